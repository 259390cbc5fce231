#pragma once
// Maps what an event says has happened to a kind.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/name_table.h"
#include "model/event.h"

namespace seen {

/// A kind beyond the built-in ones. The caller chooses its number, not below kDeclaredKindFirst.
struct DeclaredKind {
  std::string name;
  EventKind number;
};

/// One entry of input.kinds.
struct KindMapping {
  static constexpr size_t kMappingsMax = 256;

  std::string value;                // as the event has it; an integer in decimal
  std::optional<std::string> kind;  // nullopt: such events are skipped
};

/// Immutable once made: any thread.
class KindTable {
 public:
  /// The built-in kinds under their own names.
  KindTable();
  /// The built-in kinds and the declared ones.
  explicit KindTable(std::span<const DeclaredKind> declared);
  /// Only the mapped values. A mapping to a name that isn't in `known` has no effect: see IsKnown.
  KindTable(const KindTable& known, std::span<const KindMapping> mappings);

  /// True: the name is a built-in or declared kind's.
  bool IsKnown(std::string_view name) const { return values_.Find(name) < kSkipped; }

  struct Found {
    bool known = false;
    bool skipped = false;
    EventKind kind = EventKind::kExposed;
  };
  Found Find(std::string_view value) const {
    const uint8_t number = values_.Find(value);
    if (number < kSkipped) return {true, false, static_cast<EventKind>(number)};
    return {number == kSkipped, number == kSkipped, EventKind::kExposed};
  }

  /// The values that Find knows, for messages: "exposed, served, ...". Shortened.
  std::string Names() const;

 private:
  static constexpr uint8_t kSkipped = 254;

  void Add(std::string_view value, uint8_t number);

  NameTable values_;
  std::vector<std::string> names_;
};

}  // namespace seen
