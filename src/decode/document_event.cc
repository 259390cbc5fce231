#include "decode/document_event.h"

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
  if (!Has(Field::kUserId)) return missing(Field::kUserId);
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
  } else {
    if (!Has(Field::kItemId)) return missing(plan_->items_only ? Field::kItems : Field::kItemId);
    const auto id = ReadId(ValueOf(Field::kItemId), DigitsOf(Field::kItemId));
    if (!id) return Reject(Field::kItemId, ProblemOfId(ValueOf(Field::kItemId)));
    buffers.items.push_back({*id, FingerprintOf(*id)});
    if (plan_->details) buffers.details.push_back({});
  }
  event.items = buffers.items;
  const auto user_id = ReadId(ValueOf(Field::kUserId), DigitsOf(Field::kUserId));
  if (!user_id) return Reject(Field::kUserId, ProblemOfId(ValueOf(Field::kUserId)));
  event.user_id = *user_id;
  return {};
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
  plan.event_pointers.Resolve(object, found_);
  const Attributes attributes = ReadAttributes();
  Event event;
  if (!AllHold(plan.only_if, attributes)) {
    event.skip = SkipReason::kCondition;
    return event;
  }
  if (auto read = ReadKind(event); !read) return Rejected(read);
  if (event.skip != SkipReason::kNone) return event;
  if (auto read = ReadWho(event, buffers); !read) return Rejected(read);

  constexpr Field kTime = Field::kExposedAt;
  if (!Has(kTime)) return Reject(kTime, {RejectReason::kMissingField, "missing", {}});
  const auto exposed_at = ReadTime(ValueOf(kTime), plan[kTime]);
  if (!exposed_at) return Reject(kTime, ProblemOfTime(ValueOf(kTime), kTime, plan[kTime]));
  event.exposed_at = *exposed_at;

  if (auto read = ReadText(Field::kScene, plan.wanted.scene, event.scene); !read) return Rejected(read);
  if (auto read = ReadDetails(event, buffers); !read) return Rejected(read);
  if (auto read = ReadText(Field::kRequestId, plan.wanted.request_id, event.request_id); !read)
    return Rejected(read);
  if (event.kind != EventKind::kErased) event.filters = plan.coverage.Of(event.scene, attributes);
  return event;
}

}  // namespace seen
