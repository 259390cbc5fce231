#pragma once
// What an event says happened -> its kind.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/name_table.h"
#include "model/event.h"

namespace seen {

/// A kind beyond the built-in ones, under the number the caller keeps it under: not below kDeclaredKindFirst.
struct DeclaredKind {
  std::string name;
  EventKind number;
};

/// One entry of input.kinds.
struct KindMapping {
  static constexpr size_t kMappingsMax = 256;

  std::string value;                // as it stands in the event; an integer in decimal
  std::optional<std::string> kind;  // nullopt: such events are skipped
};

/// Immutable once made: any thread.
class KindTable {
 public:
  /// The built-in kinds under their own names.
  KindTable();
  /// These and the declared ones.
  explicit KindTable(std::span<const DeclaredKind> declared);
  /// Only what is mapped; a mapping to a name that isn't in `known` has no effect: see IsKnown.
  KindTable(const KindTable& known, std::span<const KindMapping> mappings);

  /// The kind of the name, if it is built in or declared.
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

  /// "exposed", "served", ...: what Find knows, for messages; shortened.
  std::string Names() const;

 private:
  static constexpr uint8_t kSkipped = 254;

  void Add(std::string_view value, uint8_t number);

  NameTable values_;
  std::vector<std::string> names_;
};

}  // namespace seen
