#pragma once
// How a topic's items are written, as the configuration says it (items.fields).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "decode/event_time.h"
#include "decode/json_pointer.h"

namespace seen {

enum class ItemField : uint8_t { kItemId, kCreatedAt, kTitle, kText, kLang, kDeleted };
inline constexpr size_t kItemFields = 6;

/// "item_id": as a member's name, in items.fields, and in a Rejection. A constant.
std::string_view ItemFieldName(ItemField field);

struct ItemFieldRule {
  JsonPointer at;
  TimeUnit unit = TimeUnit::kMilliseconds;  // of created_at
};

/// The default: schemas/item.schema.json.
struct ItemFormat {
  // Of fields without a rule: the member of the field's name.
  std::array<std::optional<ItemFieldRule>, kItemFields> fields;
};

}  // namespace seen
