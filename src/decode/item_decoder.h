#pragma once
// Decodes an item's JSON from the topic of items. One decoder per thread.

#include <memory>
#include <string_view>
#include <tl/expected.hpp>

#include "base/clock.h"
#include "decode/item_format.h"
#include "model/event.h"

namespace seen {

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
