#pragma once
// How to read what was written with one schema: as it is, or as another schema wants it. Source: Apache Avro
// 1.11.1, specification, "Schema Resolution". Room binary only.

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "binary/avro_schema.h"

namespace seen {

/// Immutable once made: any thread. A graph like that of the writer's schema, with the reader's names.
///
/// Where implementations of Avro differ:
/// - The types' names match without their namespaces, or by an alias with its namespace.
/// - Of the reader's union it takes the branch with the full name, else one of the same type, else one that
/// the
///   value can be promoted to, as Java does. A default may be of any branch.
/// - The reader's schema says whether a number is a time. The unit and the scale are those of the writer.
struct AvroReading {
  static constexpr size_t kNodesMax = 100'000;

  struct Member {
    std::string name;  // the reader's; the writer's if it isn't kept
    uint32_t node = 0;
    bool kept = true;  // false: the reader's schema lacks it, so it is only skipped
  };
  /// A field that only the reader's schema has.
  struct Default {
    std::string name;
    uint32_t node = 0;
    std::string bytes;  // the value as Avro encodes it
  };
  struct Node {
    AvroType type = AvroType::kNull;   // as it was written, but a string that is read as bytes is kBytes
    AvroType shown = AvroType::kNull;  // the reader's: kDouble for an int that is read as a double
    AvroLogical logical = AvroLogical::kNone;
    uint32_t scale = 0;
    uint32_t size = 0;
    std::string name;
    std::vector<Member> members;  // of a record, in the order in which they were written
    std::vector<Default> defaults;
    std::vector<std::optional<std::string>> symbols;  // nullopt: the reader lacks it
    std::vector<uint32_t> within;
    std::string mismatch;  // not empty: the reader's schema has no type for it; only branches of a union
    std::optional<uint32_t> fixed_bytes = std::nullopt;  // if every value has this many
  };

  /// `reader` may be null. The error says which place of the schemas can't be read. A branch of a union that
  /// can't be read is an error of the event that has it.
  static tl::expected<AvroReading, std::string> Make(const AvroSchema& writer, const AvroSchema* reader);

  const Node& operator[](uint32_t node) const { return nodes[node]; }

  std::vector<Node> nodes;
  uint32_t root = 0;
  std::string record;  // the full name of the writer's record, for messages
};

}  // namespace seen
