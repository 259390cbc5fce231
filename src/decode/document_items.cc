#include "decode/document_items.h"

#include "decode/event_limits.h"
#include "decode/json_document.h"

namespace seen {
namespace {

namespace dom = simdjson::dom;

constexpr auto kItemIdSlot = static_cast<size_t>(Field::kItemId);
constexpr auto kPositionSlot = static_cast<size_t>(Field::kPosition);
constexpr auto kCreatedAtSlot = static_cast<size_t>(Field::kItemCreatedAt);

}  // namespace

std::string DocumentItemsReader::PathOf(const ItemArray& from, size_t index, Field field,
                                        bool of_member) const {
  const EventPlan::FieldPlan& items = plan_[Field::kItems];
  const std::string name(FieldName(field));
  const std::string at = std::to_string(index);
  if (!items.mapped) return "items[" + at + "]" + (of_member ? "." + name : "");
  std::string pointer;
  size_t stars = 0;
  for (std::string_view rest = items.pointer; !rest.empty();) {
    const std::string_view step = rest.substr(1, rest.find('/', 1) - 1);
    pointer += "/" + (step == "*" ? std::to_string(from.taken[stars++]) : std::string(step));
    rest.remove_prefix(1 + step.size());
  }
  return name + " (" + pointer + "/" + at + (of_member ? plan_[field].pointer : "") + ")";
}

tl::expected<void, Rejection> DocumentItemsReader::Find(dom::element element, const Way& way) {
  const EventPlan::FieldPlan& items = plan_[Field::kItems];
  // Some languages write an empty list as null. Without a mapping the schema forbids it.
  if (element.is_null() && items.mapped) return {};
  const bool each = !way.steps.empty() && way.steps.front() == "*";
  dom::array array;
  if ((each || way.steps.empty()) && element.get(array)) {
    return Reject(RejectReason::kWrongType, FieldName(Field::kItems),
                  Message(items.path, TypeName(element), "an array"));
  }
  if (way.steps.empty()) {
    arrays_.push_back({array, way.taken});
    return {};
  }
  Way next = way;
  next.steps = way.steps.subspan(1);
  if (each) {
    uint32_t index = 0;
    for (const dom::element within : array) {
      next.taken[way.stars] = index++;
      next.stars = way.stars + 1;
      if (auto found = Find(within, next); !found) return found;
    }
    return {};
  }
  dom::object object;
  if (element.get(object)) {
    return Reject(RejectReason::kWrongType, FieldName(Field::kItems),
                  Message(items.path, TypeName(element), "an object with \"" + way.steps.front() + "\""));
  }
  std::optional<dom::element> last;
  for (const dom::key_value_pair member : object) {
    if (member.key == way.steps.front()) last = member.value;
  }
  return last ? Find(*last, next) : tl::expected<void, Rejection>{};
}

tl::expected<void, Rejection> DocumentItemsReader::Read(dom::element value, EventBuffers& buffers) {
  const EventPlan::FieldPlan& items = plan_[Field::kItems];
  arrays_.clear();
  if (auto found = Find(value, {plan_.items_steps, {}, 0}); !found) return found;
  size_t count = 0;
  for (const ItemArray& array : arrays_) count += array.items.size();
  if (count == 0) {
    return Reject(RejectReason::kMissingField, FieldName(Field::kItems),
                  Message(items.path, "empty", "at least one item"));
  }
  if (count > kItemsMax) {
    return Reject(
        RejectReason::kTooLarge, FieldName(Field::kItems),
        Message(items.path, std::to_string(count) + " items", "at most " + std::to_string(kItemsMax)));
  }
  buffers.items.reserve(count);
  digits_.clear();
  digits_.reserve(count);
  for (const ItemArray& array : arrays_) {
    size_t index = 0;
    for (const dom::element element : array.items) {
      if (auto added = Add(array, index++, element, buffers); !added) return added;
    }
  }
  return {};
}

tl::expected<void, Rejection> DocumentItemsReader::Add(const ItemArray& from, size_t index,
                                                       dom::element value, EventBuffers& buffers) {
  const auto reject = [&](Field field, bool of_member, const Problem& problem) {
    return Reject(problem.reason, FieldName(field),
                  Message(PathOf(from, index, field, of_member), problem.what, problem.expected));
  };
  dom::object object;
  const bool is_object = value.get(object) == simdjson::SUCCESS;
  ItemDetails details;
  dom::element id_value = value;
  if (is_object) {
    plan_.element_pointers.Resolve(object, found_);
    if (!found_.Has(kItemIdSlot)) {
      return reject(Field::kItemId, true, {RejectReason::kMissingField, "missing", {}});
    }
    id_value = found_.values[kItemIdSlot];
    const dom::element position = found_.values[kPositionSlot];
    if (found_.Has(kPositionSlot) && !ReadPosition(position, plan_[Field::kPosition], details.position))
      return reject(Field::kPosition, true, ProblemOfPosition(position));
    const dom::element created_at = found_.values[kCreatedAtSlot];
    constexpr Field kCreatedAt = Field::kItemCreatedAt;
    if (found_.Has(kCreatedAtSlot) && !created_at.is_null()) {
      details.created_at = ReadTime(created_at, plan_[kCreatedAt]);
      if (!details.created_at)
        return reject(kCreatedAt, true, ProblemOfTime(created_at, kCreatedAt, plan_[kCreatedAt]));
    }
  }
  const auto id = ReadId(id_value, digits_.emplace_back());
  // If the element itself is the bad id, the message names the list.
  if (!id) return reject(is_object ? Field::kItemId : Field::kItems, is_object, ProblemOfId(id_value));
  buffers.items.push_back({*id, FingerprintOf(*id)});
  if (!plan_.wanted.position) details.position.reset();
  if (plan_.details) buffers.details.push_back(details);
  return {};
}

}  // namespace seen
