#pragma once
// Decodes an item's JSON from the topic of items. One decoder per thread.

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <tl/expected.hpp>

#include "base/clock.h"
#include "decode/field_rule.h"
#include "model/event.h"

namespace seen {

/// The format of a topic's items, as configured (items.fields).
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

/// Views are valid until the next Decode.
struct ItemEvent {
  std::string_view item_id;  // 1 to kIdBytesMax bytes; an integer becomes its decimal string
  std::optional<TimeMs> created_at;
  std::string_view title, text, lang;  // empty: none
  bool deleted = false;
};

class ItemDecoder {
 public:
  /// `bytes_max`: of a record; longer records are rejected as too large.
  ItemDecoder(const ItemFormat& format, uint64_t bytes_max);
  ~ItemDecoder();
  tl::expected<ItemEvent, Rejection> Decode(std::string_view json);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
