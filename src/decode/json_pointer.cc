#include "decode/json_pointer.h"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace seen {

namespace {

/// Replaces the escapes ~0 and ~1. nullopt: `step` has a tilde that is neither.
std::optional<std::string> Unescaped(std::string_view step) {
  std::string name;
  for (size_t at = 0; at < step.size(); ++at) {
    if (step[at] != '~') {
      name += step[at];
      continue;
    }
    ++at;
    if (at == step.size() || (step[at] != '0' && step[at] != '1')) return std::nullopt;
    name += step[at] == '0' ? '~' : '/';
  }
  return name;
}

}  // namespace

tl::expected<JsonPointer, std::string> ParseJsonPointer(std::string_view text) {
  const auto fail = [](std::string what) { return tl::unexpected<std::string>(std::move(what)); };
  if (!text.starts_with('/')) return fail(R"(must begin with "/", such as "/data/uid")");
  if (text.size() > JsonPointer::kBytesMax) {
    return fail("must have at most " + std::to_string(JsonPointer::kBytesMax) + " bytes");
  }
  JsonPointer pointer{std::string(text), {}};
  for (std::string_view rest = text; !rest.empty();) {
    rest.remove_prefix(1);
    auto name = Unescaped(rest.substr(0, rest.find('/')));
    if (!name) return fail(R"(has a "~" that is neither "~0" (a tilde) nor "~1" (a slash))");
    pointer.steps.push_back(std::move(*name));
    rest.remove_prefix(std::min(rest.size(), rest.find('/')));
  }
  if (pointer.steps.size() > JsonPointer::kStepsMax) {
    return fail("must have at most " + std::to_string(JsonPointer::kStepsMax) + " steps");
  }
  return pointer;
}

size_t ArrayIndexOf(std::string_view step) {
  if (step.empty() || step.size() > 9 || (step.front() == '0' && step.size() > 1)) return SIZE_MAX;
  size_t index = 0;
  for (const char digit : step) {
    if (digit < '0' || digit > '9') return SIZE_MAX;
    index = index * 10 + static_cast<size_t>(digit - '0');
  }
  return index;
}

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

void PointerTree::Node::Visit(dom::element element, FoundElements& found) const {
  found.present &= ~slots_within;
  for (const uint8_t slot : slots) {
    found.values[slot] = element;
    found.present |= SlotBit(slot);
  }
  if (children.empty()) return;
  dom::object object;
  dom::array array;
  if (element.get(object) == simdjson::SUCCESS) {
    VisitMembers(object, found);
  } else if (element.get(array) == simdjson::SUCCESS) {
    for (size_t i = 0; i < children.size(); ++i) {
      dom::element within;
      if (indexes[i] != SIZE_MAX && array.at(indexes[i]).get(within) == simdjson::SUCCESS)
        children[i].Visit(within, found);
    }
  }
}

void PointerTree::Node::VisitMembers(dom::object object, FoundElements& found) const {
  for (const dom::key_value_pair member : object) {
    const uint8_t child = names.Find(member.key);
    if (child == NameTable::kNone) continue;
    if (const uint8_t slot = leaves[child]; slot != NameTable::kNone) [[likely]] {
      found.values[slot] = member.value;
      found.present |= SlotBit(slot);
    } else {
      children[child].Visit(member.value, found);
    }
  }
}

}  // namespace seen
