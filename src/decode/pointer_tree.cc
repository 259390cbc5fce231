#include "decode/pointer_tree.h"

#include "decode/field_rule.h"

namespace seen {

namespace dom = simdjson::dom;

void PointerTree::Node::Add(std::span<const std::string> steps, uint8_t slot) {
  slots_within |= SlotBit(slot);
  if (steps.empty()) {
    slots.push_back(slot);
    return;
  }
  const uint8_t child = names.Add(steps.front(), static_cast<uint8_t>(children.size()));
  if (child == children.size()) {
    children.emplace_back();
    indexes.push_back(ArrayIndexOf(steps.front()));
    leaves.push_back(NameTable::kNone);
  }
  Node& node = children[child];
  node.Add(steps.subspan(1), slot);
  leaves[child] = node.children.empty() && node.slots.size() == 1 ? slot : NameTable::kNone;
}

void PointerTree::Node::Visit(dom::element element, FoundElements& found, size_t strings) const {
  found.present &= ~slots_within;
  for (const uint8_t slot : slots) {
    found.values[slot] = element;
    found.present |= SlotBit(slot);
  }
  if (!children.empty()) VisitWithin(element, found, strings);
}

void PointerTree::Node::VisitWithin(dom::element element, FoundElements& found, size_t strings) const {
  dom::object object;
  dom::array array;
  std::string_view text;
  if (element.get(object) == simdjson::SUCCESS) {
    VisitMembers(object, found, strings);
  } else if (element.get(array) == simdjson::SUCCESS) {
    for (size_t i = 0; i < children.size(); ++i) {
      dom::element within;
      if (indexes[i] != SIZE_MAX && array.at(indexes[i]).get(within) == simdjson::SUCCESS)
        children[i].Visit(within, found, strings);
    }
  } else if (found.nested && strings < kStringsMax && element.get(text) == simdjson::SUCCESS) {
    if (const auto within = found.nested->Parse(text)) VisitWithin(*within, found, strings + 1);
  }
}

void PointerTree::Node::VisitMembers(dom::object object, FoundElements& found, size_t strings) const {
  for (const dom::key_value_pair member : object) {
    const uint8_t child = names.Find(member.key);
    if (child == NameTable::kNone) continue;
    if (const uint8_t slot = leaves[child]; slot != NameTable::kNone) [[likely]] {
      found.values[slot] = member.value;
      found.present |= SlotBit(slot);
    } else {
      children[child].Visit(member.value, found, strings);
    }
  }
}

}  // namespace seen
