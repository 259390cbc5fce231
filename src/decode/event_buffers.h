#pragma once
// Where an event's items are put, either way of reading it.

#include <vector>

#include "model/event.h"

namespace seen {

/// Grows, never shrinks; overwritten by each event.
struct EventBuffers {
  std::vector<ExposedItem> items;
  std::vector<ItemDetails> details;  // one an item, or none at all

  void Clear() {
    items.clear();
    details.clear();
  }
};

}  // namespace seen
