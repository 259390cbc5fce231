#pragma once
// Reads the items of a batch event, which may be in several arrays. Room decode only.

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

  /// Appends to `buffers` the items of all arrays that `value` leads to. `value` is the element at which the
  /// pointer's first "*" step begins; without such a step it is the array. The text of an id that is an
  /// integer stays valid until the next call.
  tl::expected<void, Rejection> Read(simdjson::dom::element value, EventBuffers& buffers);

 private:
  using Indexes = std::array<uint32_t, EventFormat::kItemStarsMax>;

  /// An array of items, and the indexes of the elements on the way to it.
  struct ItemArray {
    simdjson::dom::array items;
    Indexes taken{};
  };
  struct Way {
    std::span<const std::string> steps;  // still to go
    Indexes taken{};
    size_t stars = 0;
  };

  tl::expected<void, Rejection> Find(simdjson::dom::element element, const Way& way);
  tl::expected<void, Rejection> Add(const ItemArray& from, size_t index, simdjson::dom::element value,
                                    EventBuffers& buffers);
  /// "items[3].position" or "position (/data/pages/0/items/3/pos)"; `of_member` false: the path of the item
  /// itself.
  std::string PathOf(const ItemArray& from, size_t index, Field field, bool of_member) const;

  const EventPlan& plan_;
  std::vector<ItemArray> arrays_;
  FoundElements found_;         // in one element
  std::vector<Digits> digits_;  // the text of integer ids; doesn't grow while a view points into it
};

}  // namespace seen
