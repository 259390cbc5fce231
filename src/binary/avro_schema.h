#pragma once
// A schema of Avro, from its JSON text. Source: Apache Avro 1.11.1, specification, "Schema Declaration",
// "Names", "Aliases" and "Logical Types".

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace seen {

enum class AvroType : uint8_t {
  kNull,
  kBoolean,
  kInt,
  kLong,
  kFloat,
  kDouble,
  kBytes,
  kString,
  kFixed,
  kEnum,
  kRecord,
  kArray,
  kMap,
  kUnion,
};

enum class AvroLogical : uint8_t {
  kNone,
  kDate,
  kTimeMillis,
  kTimeMicros,
  kTimestampMillis,
  kTimestampMicros,
  kTimestampNanos,
  kLocalTimestampMillis,
  kLocalTimestampMicros,
  kLocalTimestampNanos,
  kDecimal,
  kUuid,
  kDuration,
};

/// A day or a point in time, which events have in ms since 1970.
inline bool IsPointInTime(AvroLogical logical) {
  return logical == AvroLogical::kDate ||
         (logical >= AvroLogical::kTimestampMillis && logical <= AvroLogical::kLocalTimestampNanos);
}

/// "int", "record", ...
std::string_view AvroTypeName(AvroType type);
/// "timestamp-micros", ...; empty for kNone.
std::string_view AvroLogicalName(AvroLogical logical);

/// Immutable once parsed: any thread.
class AvroSchema {
 public:
  static constexpr size_t kTextBytesMax = size_t{1} << 20;
  static constexpr size_t kNodesMax = 10'000;
  static constexpr size_t kDepthMax = 64;

  struct Field {
    std::string name;
    std::vector<std::string> aliases;
    uint32_t node = 0;
    std::optional<std::string> default_json;  // as the schema has it; not checked against the type
  };
  struct Node {
    AvroType type = AvroType::kNull;
    AvroLogical logical = AvroLogical::kNone;
    uint32_t scale = 0;                // of a decimal
    uint32_t size = 0;                 // of a fixed, in bytes
    std::string name;                  // full name of a record, an enum or a fixed: "shop.Exposure"
    std::vector<std::string> aliases;  // likewise full names
    std::vector<Field> fields;         // of a record
    std::vector<std::string> symbols;  // of an enum
    std::optional<std::string> symbol_default;
    std::vector<uint32_t> within;  // branches of a union; the one type of the elements of an array or a map
  };

  /// `text`: an .avsc file. The root is a record, or a union of null and one record: an event. An unknown
  /// logical type, or one on a type that it isn't for, has no effect. The error names the place and a remedy:
  /// "record shop.Exposure, field items: unknown type \"Item\"; define it ...".
  /// `referenced`: schemas whose types `text` may name, each before those that name its types.
  static tl::expected<std::shared_ptr<const AvroSchema>, std::string> Parse(
      std::string_view text, std::span<const std::string> referenced = {});

  const Node& operator[](uint32_t node) const { return nodes_[node]; }
  uint32_t root() const { return root_; }
  /// The record that the root is, or the record of the root's union.
  const Node& RootRecord() const;

 private:
  friend class AvroSchemaParser;
  std::vector<Node> nodes_;
  uint32_t root_ = 0;
};

}  // namespace seen
