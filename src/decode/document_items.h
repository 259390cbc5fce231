#pragma once
// The items of a batch event, also where they lie in several arrays. Room decode only.

#include <simdjson.h>

#include <array>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "decode/document_values.h"
#include "decode/event_buffers.h"
#include "decode/event_plan.h"
#include "decode/pointer_tree.h"

namespace seen {

/// One per thread; `plan` outlives it. No allocation per accepted event once warm.
class DocumentItemsReader {
 public:
  explicit DocumentItemsReader(const EventPlan& plan) : plan_(plan) {}

  /// Appends to `buffers` what is in the arrays that `value`, the first of the pointer's, leads to. Of ids
  /// that are integers the texts stay valid until the next call.
  tl::expected<void, Rejection> Read(simdjson::dom::element value, EventBuffers& buffers);

 private:
  using Indexes = std::array<uint32_t, EventFormat::kItemStarsMax>;

  /// An array of items, and the elements taken on the way to it.
  struct ItemArray {
    simdjson::dom::array items;
    Indexes taken{};
  };
  struct Way {
    std::span<const std::string> steps;  // yet to go
    Indexes taken{};
    size_t stars = 0;
  };

  tl::expected<void, Rejection> Find(simdjson::dom::element element, const Way& way);
  tl::expected<void, Rejection> Add(const ItemArray& from, size_t index, simdjson::dom::element value,
                                    EventBuffers& buffers);
  /// "items[3].position" or "position (/data/pages/0/items/3/pos)"; `of_member` false: of the item itself.
  std::string PathOf(const ItemArray& from, size_t index, Field field, bool of_member) const;

  const EventPlan& plan_;
  std::vector<ItemArray> arrays_;
  FoundElements found_;         // in one element
  std::vector<Digits> digits_;  // integer ids, written out; never grows while there is a view into it
};

}  // namespace seen
