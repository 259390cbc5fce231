#pragma once
// The places that a plan looks at, as a tree beside the schema's. Room binary only.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "decode/event_plan.h"

namespace seen {

/// Immutable once made: any thread.
struct PlaceTree {
  static PlaceTree Of(const EventPlan& plan);

  /// `step`: a member's name, a map's key or a list's index. All elements of a list share one place. Null:
  /// the plan looks at nothing there.
  const PlaceTree* Find(std::string_view step) const;
  /// Whether the plan looks for a value of the event here or below, beside the items' own values.
  bool HasSlots() const;

  struct Child;
  std::vector<Child> within;
  uint32_t slots = 0;       // a bit per slot, but for `items`
  uint32_t item_slots = 0;  // those of an element of `items`
  bool is_items = false;
  bool is_id_or_time = false;

  static constexpr std::string_view kElement = "*";  // the step to each element of a list
};
struct PlaceTree::Child {
  std::string step;
  PlaceTree place;
};

}  // namespace seen
