#include "binary/place_tree.h"

#include <algorithm>
#include <span>

namespace seen {
namespace {

std::string_view StepOf(std::string_view step) {
  return ArrayIndexOf(step) == SIZE_MAX ? step : PlaceTree::kElement;
}

PlaceTree& Grow(PlaceTree& tree, std::span<const std::string> steps) {
  PlaceTree* place = &tree;
  for (const std::string& step : steps) {
    const auto found = place->Find(step);
    if (found == nullptr) place->within.push_back({std::string(StepOf(step)), {}});
    place = found == nullptr ? &place->within.back().place : const_cast<PlaceTree*>(found);
  }
  return *place;
}

bool IsIdOrTime(uint8_t slot) {
  if (slot >= kFields) return slot >= EventPlan::kUserSlots;
  const auto field = static_cast<Field>(slot);
  return field == Field::kUserId || field == Field::kItemId || IsTime(field);
}

}  // namespace

PlaceTree PlaceTree::Of(const EventPlan& plan) {
  PlaceTree tree;
  std::vector<std::string> items;
  for (const EventPlan::Place& each : plan.event_places) {
    PlaceTree& place = Grow(tree, each.steps);
    if (each.slot == static_cast<uint8_t>(Field::kItems)) {
      items = each.steps;
      items.insert(items.end(), plan.items_steps.begin(), plan.items_steps.end());
    } else {
      place.slots |= SlotBit(each.slot);
      place.is_id_or_time |= IsIdOrTime(each.slot);
    }
  }
  if (items.empty()) return tree;
  Grow(tree, items).is_items = true;
  items.emplace_back(kElement);
  for (const EventPlan::Place& each : plan.element_places) {
    PlaceTree& place = Grow(Grow(tree, items), each.steps);
    place.item_slots |= SlotBit(each.slot);
    place.is_id_or_time |= IsIdOrTime(each.slot);
  }
  return tree;
}

const PlaceTree* PlaceTree::Find(std::string_view step) const {
  const std::string_view name = StepOf(step);
  for (const Child& child : within) {
    if (child.step == name) return &child.place;
  }
  return nullptr;
}

bool PlaceTree::HasSlots() const {
  return slots != 0 ||
         std::any_of(within.begin(), within.end(), [](const Child& child) { return child.place.HasSlots(); });
}

}  // namespace seen
