#pragma once
// The format of a topic's events, as configured. EventPlan prepares it for use.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/coverage.h"
#include "decode/event_kinds.h"
#include "decode/field_rule.h"

namespace seen {

// The limits of both ways of reading an event.

inline constexpr size_t kItemsMax = 10'000;                          // in one batch event
inline constexpr int64_t kExposedAtEnd = (int64_t{1} << 32) * 1000;  // ms: seconds are kept in 32 bits

enum class Field : uint8_t {
  kUserId,
  kItemId,
  kItems,
  kExposedAt,
  kScene,
  kPosition,
  kRequestId,
  kKind,
  kItemCreatedAt,
  kItemsExposedAt,  // an item's own time
};
inline constexpr size_t kFields = 10;

/// The field's name: an event's member, in input.fields, and in a Rejection. For example "user_id". A
/// constant.
std::string_view FieldName(Field field);
inline bool IsTime(Field field) {
  return field == Field::kExposedAt || field == Field::kItemCreatedAt || field == Field::kItemsExposedAt;
}

struct FieldRule {
  static constexpr size_t kPointersMax = 4;  // of user_id

  // If `items` has a rule, the pointers of item_id, position and item_created_at begin at an element of
  // `items`. That of items_exposed_at always does. In the pointer of `items` a step "*" means every element
  // of an array.
  JsonPointer at;
  TimeUnit unit = TimeUnit::kMilliseconds;  // of times
  std::vector<JsonPointer> others = {};     // of user_id: tried in order where `at` leads to no id
};

/// The parts of an event that a caller wants beyond user, items and time. A part that isn't wanted costs
/// nothing.
struct Wanted {
  bool kind = false;
  bool scene = false;
  bool position = false;
  bool request_id = false;
  bool item_created_at = false;
};

class BinaryFormat;

/// The default: schemas/exposure_event.schema.json.
struct EventFormat {
  static constexpr size_t kItemStarsMax = 3;    // "*" steps of `items`
  static constexpr size_t kAttributesMax = 16;  // pointers of all conditions together
  static constexpr size_t kIdsIgnoredMax = 64;

  // A field without a rule is the member with the field's name.
  std::array<std::optional<FieldRule>, kFields> fields;
  std::vector<Condition> only_if;        // an event is skipped if one doesn't hold
  std::vector<Condition> items_only_if;  // likewise an element of `items`; the pointers begin there
  std::vector<std::string> ids_ignored;  // ids that are no user's: such an event is skipped
  bool items_skip_invalid = false;       // an element of `items` without a valid id is skipped
  bool lenient = false;                  // a member that isn't read may be broken inside a string
  std::vector<DeclaredKind> declared_kinds;
  std::optional<std::vector<KindMapping>> kinds;  // nullopt: kinds under their own names
  std::vector<Coverage> filters;                  // in the configuration's order; none: all cover everything
  Wanted wanted;
  bool framed = false;                   // JSON may stand behind a schema registry's bytes
  std::shared_ptr<BinaryFormat> binary;  // how the events are read; nullptr: they are JSON
};

}  // namespace seen
