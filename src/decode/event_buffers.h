#pragma once
// The buffers for an event's items, for all ways of reading it.

#include <vector>

#include "model/event.h"

namespace seen {

/// Grows, never shrinks; overwritten by each event.
struct EventBuffers {
  std::vector<ExposedItem> items;
  std::vector<ItemDetails> details;  // one per item, or none at all

  void Clear() {
    items.clear();
    details.clear();
  }
};

}  // namespace seen
