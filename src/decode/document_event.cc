#include "decode/document_event.h"

#include <algorithm>

#include "decode/event_format.h"
#include "decode/json_document.h"

namespace seen {

namespace {

namespace dom = simdjson::dom;

std::string ShownKind(std::string_view value) {
  constexpr size_t kBytesMax = 64;
  if (value.size() <= kBytesMax) return "\"" + std::string(value) + "\"";
  return "a text of " + std::to_string(value.size()) + " bytes";
}

}  // namespace

tl::unexpected<Rejection> DocumentEventReader::Reject(Field field, const Problem& problem) const {
  return seen::Reject(problem.reason, FieldName(field),
                      Message((*plan_)[field].path, problem.what, problem.expected));
}

Attributes DocumentEventReader::ReadAttributes() {
  const uint32_t read = found_.present & plan_->condition_slots;
  for (size_t slot = 0; read >> slot != 0; ++slot) {
    if ((read >> slot) & 1) attributes_[slot] = ScalarOf(found_.values[slot], digits_[slot]);
  }
  return {attributes_.data(), read};
}

// A condition fails for a broken string, which may have been any text.
tl::expected<void, Rejection> DocumentEventReader::CheckConditionsAreWhole() const {
  const uint32_t read = found_.present & plan_->condition_slots;
  for (size_t slot = 0; read >> slot != 0; ++slot) {
    if (((read >> slot) & 1) == 0 || !IsBrokenString(found_.values[slot])) continue;
    return seen::Reject(RejectReason::kNotJson, {},
                        "not JSON: a string that is broken inside, which a condition looks at");
  }
  return {};
}

tl::expected<void, Rejection> DocumentEventReader::ReadUser(Event& event) {
  const bool chooses = plan_->user_slots.size() > 1;
  std::optional<uint8_t> invalid;
  for (const uint8_t slot : plan_->user_slots) {
    if (!found_.Has(slot)) continue;
    const Scalar value = ScalarOf(found_.values[slot], digits_[slot]);
    if (IsId(value) || value.kind == ScalarKind::kString) {
      if (plan_->ids_ignored.Find(value.text) != NameTable::kNone) {
        event.skip = SkipReason::kIgnoredId;
        continue;
      }
    }
    if (IsId(value)) {
      event.skip = SkipReason::kNone;
      event.user_id = value.text;
      return {};
    }
    if (!invalid) invalid = slot;
    // Of several places, those with null or an empty text are passed over.
    const bool none =
        value.kind == ScalarKind::kNull || (value.kind == ScalarKind::kString && value.text.empty());
    if (!chooses || !none) {
      event.skip = SkipReason::kNone;
      return Reject(Field::kUserId, ProblemOfId(found_.values[slot]));
    }
  }
  if (event.skip != SkipReason::kNone) return {};
  if (invalid) return Reject(Field::kUserId, ProblemOfId(found_.values[*invalid]));
  return Reject(Field::kUserId, {RejectReason::kMissingField, "missing", {}});
}

tl::expected<void, Rejection> DocumentEventReader::ReadKind(Event& event) {
  constexpr Field kField = Field::kKind;
  if (!plan_->wanted.kind || !Has(kField) || ValueOf(kField).is_null()) return {};
  const Scalar value = ScalarOf(ValueOf(kField), DigitsOf(kField));
  if (value.kind != ScalarKind::kString && value.kind != ScalarKind::kInteger) {
    return Reject(kField,
                  {IsBigInteger(ValueOf(kField)) ? RejectReason::kOutOfRange : RejectReason::kWrongType,
                   std::string(TypeName(ValueOf(kField))), "a string, a 64-bit integer or null"});
  }
  const auto found = plan_->kinds.Find(value.text);
  if (!found.known) {
    return Reject(kField, {RejectReason::kUnknownKind, ShownKind(value.text),
                           "one of " + plan_->kinds.Names() +
                               "; map it in input.kinds, to null if it is to be skipped"});
  }
  event.kind = found.kind;
  if (found.skipped) event.skip = SkipReason::kKind;
  return {};
}

tl::expected<void, Rejection> DocumentEventReader::ReadWho(Event& event, EventBuffers& buffers) {
  const auto missing = [&](Field field) {
    return Reject(field, {RejectReason::kMissingField, "missing", {}});
  };
  if (auto read = ReadUser(event); !read || event.skip != SkipReason::kNone) return read;
  if (event.kind == EventKind::kErased) {
    for (const Field field : {Field::kItemId, Field::kItems}) {
      if (!Has(field) || ValueOf(field).is_null()) continue;
      return Reject(field, {RejectReason::kWrongType, "given with kind erased, which erases all of the user",
                            "kind removed, or no item"});
    }
  } else if (Has(Field::kItems)) {
    if (Has(Field::kItemId)) {
      return Reject(Field::kItems, {RejectReason::kWrongType, "given beside item_id", "one of the two"});
    }
    if (auto read = items_.Read(ValueOf(Field::kItems), buffers); !read) return read;
    event.skipped_items = items_.skipped();
    if (buffers.items.empty())
      event.skip = event.skipped_items.by_condition > 0 ? SkipReason::kNoItem : SkipReason::kNoId;
  } else {
    if (!Has(Field::kItemId)) return missing(plan_->items_only ? Field::kItems : Field::kItemId);
    const auto id = ReadId(ValueOf(Field::kItemId), DigitsOf(Field::kItemId));
    if (!id) return Reject(Field::kItemId, ProblemOfId(ValueOf(Field::kItemId)));
    buffers.items.push_back({*id, FingerprintOf(*id)});
    if (plan_->details) buffers.details.push_back({});
  }
  event.items = buffers.items;
  return {};
}

// If all items have times of their own, the event needs none. The last one is the event's.
tl::expected<void, Rejection> DocumentEventReader::ReadTimes(Event& event,
                                                             const EventBuffers& buffers) const {
  constexpr Field kTime = Field::kExposedAt;
  if (Has(kTime)) {
    const auto exposed_at = ReadTime(ValueOf(kTime), (*plan_)[kTime]);
    if (!exposed_at) return Reject(kTime, ProblemOfTime(ValueOf(kTime), kTime, (*plan_)[kTime]));
    event.exposed_at = *exposed_at;
    return {};
  }
  for (const ItemDetails& details : buffers.details) {
    if (!details.exposed_at) return Reject(kTime, {RejectReason::kMissingField, "missing", {}});
    event.exposed_at = std::max(event.exposed_at, *details.exposed_at);
  }
  if (!buffers.details.empty()) return {};
  return Reject(kTime, {RejectReason::kMissingField, "missing", {}});
}

tl::expected<void, Rejection> DocumentEventReader::ReadText(Field field, bool wanted,
                                                            std::string_view& text) {
  if (!Has(field)) return {};
  const auto value = seen::ReadText(ValueOf(field), DigitsOf(field), (*plan_)[field]);
  if (!value) return Reject(field, ProblemOfText(ValueOf(field), (*plan_)[field]));
  if (wanted) text = *value;
  return {};
}

// Details that the event has for all of its items complete each item's own details.
tl::expected<void, Rejection> DocumentEventReader::ReadDetails(Event& event, EventBuffers& buffers) const {
  ItemDetails common;
  if (Has(Field::kPosition)) {
    constexpr Field kField = Field::kPosition;
    if (!ReadPosition(ValueOf(kField), (*plan_)[kField], common.position))
      return Reject(kField, ProblemOfPosition(ValueOf(kField)));
  }
  if (Has(Field::kItemCreatedAt) && !ValueOf(Field::kItemCreatedAt).is_null()) {
    constexpr Field kField = Field::kItemCreatedAt;
    common.created_at = ReadTime(ValueOf(kField), (*plan_)[kField]);
    if (!common.created_at) return Reject(kField, ProblemOfTime(ValueOf(kField), kField, (*plan_)[kField]));
  }
  if (!plan_->wanted.position) common.position.reset();
  for (ItemDetails& details : buffers.details) details.Complete(common);
  event.details = buffers.details;
  return {};
}

tl::expected<Event, Rejection> DocumentEventReader::Read(dom::object object, EventBuffers& buffers) {
  const EventPlan& plan = *plan_;
  buffers.Clear();
  nested_->Clear();
  plan.event_pointers.Resolve(object, found_);
  if (plan.lenient) {
    if (auto checked = CheckConditionsAreWhole(); !checked) return Rejected(checked);
  }
  const Attributes attributes = ReadAttributes();
  Event event;
  if (!AllHold(plan.only_if, attributes)) {
    event.skip = SkipReason::kCondition;
    return event;
  }
  if (auto read = ReadKind(event); !read) return Rejected(read);
  if (event.skip != SkipReason::kNone) return event;
  if (auto read = ReadWho(event, buffers); !read) return Rejected(read);
  if (event.skip != SkipReason::kNone) return event;
  if (auto read = ReadTimes(event, buffers); !read) return Rejected(read);
  if (auto read = ReadText(Field::kScene, plan.wanted.scene, event.scene); !read) return Rejected(read);
  if (auto read = ReadDetails(event, buffers); !read) return Rejected(read);
  if (auto read = ReadText(Field::kRequestId, plan.wanted.request_id, event.request_id); !read)
    return Rejected(read);
  if (event.kind != EventKind::kErased) event.filters = plan.coverage.Of(event.scene, attributes);
  return event;
}

namespace {

namespace dom = simdjson::dom;

constexpr auto kItemIdSlot = static_cast<size_t>(Field::kItemId);
constexpr auto kPositionSlot = static_cast<size_t>(Field::kPosition);
constexpr auto kCreatedAtSlot = static_cast<size_t>(Field::kItemCreatedAt);
constexpr auto kOwnTimeSlot = static_cast<size_t>(Field::kItemsExposedAt);

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
  if (std::string_view text; items.mapped && element.get(text) == simdjson::SUCCESS) {
    if (const auto within = nested_.Parse(text)) element = *within;
  }
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
  skipped_ = {};
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

// "{}" has no member to step to, and stays an id: so the short way, which reads no escapes, agrees.
bool DocumentItemsReader::StepInto(dom::element element, dom::object& object) {
  std::string_view text;
  if (element.get(text) || !text.starts_with('{')) return false;
  const auto within = nested_.Parse(text);
  return within && within->get(object) == simdjson::SUCCESS && object.size() > 0;
}

// An element that is no object has no member that a condition looks at.
bool DocumentItemsReader::ConditionsHold(bool is_object) {
  return std::all_of(
      plan_.items_only_if.begin(), plan_.items_only_if.end(), [&](const NumberedCondition& each) {
        Digits digits;
        const bool present = is_object && found_.Has(each.number);
        return Holds(each.condition,
                     present ? ScalarOf(found_.values[each.number], digits) : Scalar{ScalarKind::kNull, {}});
      });
}

tl::expected<void, Rejection> DocumentItemsReader::Add(const ItemArray& from, size_t index,
                                                       dom::element value, EventBuffers& buffers) {
  const auto reject = [&](Field field, bool of_member, const Problem& problem) {
    return Reject(problem.reason, FieldName(field),
                  Message(PathOf(from, index, field, of_member), problem.what, problem.expected));
  };
  dom::object object;
  const bool is_object =
      value.get(object) == simdjson::SUCCESS || (plan_.elements_may_be_text && StepInto(value, object));
  ItemDetails details;
  dom::element id_value = value;
  if (is_object) {
    plan_.element_pointers.Resolve(object, found_);
  }
  if (!plan_.items_only_if.empty() && !ConditionsHold(is_object)) {
    ++skipped_.by_condition;
    return {};
  }
  if (is_object) {
    if (!found_.Has(kItemIdSlot)) {
      skipped_.without_id += plan_.items_skip_invalid ? 1u : 0u;
      if (plan_.items_skip_invalid) return {};
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
    const dom::element exposed_at = found_.values[kOwnTimeSlot];
    constexpr Field kOwnTime = Field::kItemsExposedAt;
    if (found_.Has(kOwnTimeSlot) && !exposed_at.is_null()) {
      details.exposed_at = ReadTime(exposed_at, plan_[kOwnTime]);
      if (!details.exposed_at)
        return reject(kOwnTime, true, ProblemOfTime(exposed_at, kOwnTime, plan_[kOwnTime]));
    }
  }
  const auto id = ReadId(id_value, digits_.emplace_back());
  if (!id && plan_.items_skip_invalid) {
    ++skipped_.without_id;
    return {};
  }
  // If the element itself is the bad id, the message names the list.
  if (!id) return reject(is_object ? Field::kItemId : Field::kItems, is_object, ProblemOfId(id_value));
  buffers.items.push_back({*id, FingerprintOf(*id)});
  if (!plan_.wanted.position) details.position.reset();
  if (plan_.details) buffers.details.push_back(details);
  return {};
}

}  // namespace seen
