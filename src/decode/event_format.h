#pragma once
// How a topic's events are written, as the configuration says it. EventPlan makes it ready for use.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "decode/condition.h"
#include "decode/coverage.h"
#include "decode/event_kinds.h"
#include "decode/event_time.h"
#include "decode/json_pointer.h"

namespace seen {

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
};
inline constexpr size_t kFields = 9;

/// "user_id": as a member's name, in input.fields, and in a Rejection. A constant.
std::string_view FieldName(Field field);
inline bool IsTime(Field field) { return field == Field::kExposedAt || field == Field::kItemCreatedAt; }

struct FieldRule {
  // Of item_id, position and item_created_at: from an element of `items` on, where `items` has a rule. Of
  // `items` a step "*" stands for every element of an array.
  JsonPointer at;
  TimeUnit unit = TimeUnit::kMilliseconds;  // of times
};

/// What a caller wants to know of an event beyond who saw what, when. What isn't wanted isn't paid for.
struct Wanted {
  bool kind = false;
  bool scene = false;
  bool position = false;
  bool request_id = false;
  bool item_created_at = false;
};

/// The default: schemas/exposure_event.schema.json.
struct EventFormat {
  static constexpr size_t kItemStarsMax = 3;    // "*" steps of `items`
  static constexpr size_t kAttributesMax = 16;  // pointers that conditions look at, in all

  // Of fields without a rule: the member of the field's name.
  std::array<std::optional<FieldRule>, kFields> fields;
  std::vector<Condition> only_if;  // an event for which one doesn't hold is skipped
  std::vector<DeclaredKind> declared_kinds;
  std::optional<std::vector<KindMapping>> kinds;  // nullopt: kinds under their own names
  std::vector<Coverage> filters;                  // by place in the configuration; none: all cover everything
  Wanted wanted;
};

}  // namespace seen
