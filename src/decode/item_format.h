#pragma once
// The format of a topic's items, as configured (items.fields).

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "decode/event_time.h"
#include "decode/json_pointer.h"

namespace seen {

enum class ItemField : uint8_t { kItemId, kCreatedAt, kTitle, kText, kLang, kDeleted };
inline constexpr size_t kItemFields = 6;

/// The field's name: an item's member, in items.fields, and in a Rejection. For example "item_id". A
/// constant.
std::string_view ItemFieldName(ItemField field);

struct ItemFieldRule {
  JsonPointer at;
  TimeUnit unit = TimeUnit::kMilliseconds;  // of created_at
};

/// The default: schemas/item.schema.json.
struct ItemFormat {
  // A field without a rule is the member with the field's name.
  std::array<std::optional<ItemFieldRule>, kItemFields> fields;
};

}  // namespace seen
