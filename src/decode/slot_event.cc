#include "decode/slot_event.h"

#include <charconv>
#include <limits>

namespace seen {
namespace {

using Kind = BinaryValue::Kind;

bool IsInteger(const BinaryValue& value) {
  return value.kind() == Kind::kInteger || value.kind() == Kind::kUnsigned;
}

}  // namespace

bool SlotEvent::IsFor(const EventPlan& plan) {
  return plan.items_steps.empty() && plan.items_only_if.empty() && !plan[Field::kItemsExposedAt].mapped &&
         !plan.items_skip_invalid;
}

std::string_view SlotEvent::DigitsOf(const BinaryValue& value) {
  if (digits_used_ == kBlock * digits_.size())
    digits_.push_back(std::make_unique<std::array<Digits, kBlock>>());
  Digits& digits = (*digits_[digits_used_ / kBlock])[digits_used_ % kBlock];
  ++digits_used_;
  char* const end = digits.data() + digits.size();
  const auto written = value.kind() == Kind::kUnsigned
                           ? std::to_chars(digits.data(), end, static_cast<uint64_t>(value.integer()))
                           : std::to_chars(digits.data(), end, value.integer());
  return {digits.data(), static_cast<size_t>(written.ptr - digits.data())};
}

inline bool SlotEvent::ReadId(const BinaryValue& value, std::string_view& id) {
  if (IsInteger(value)) {
    id = DigitsOf(value);
    return true;
  }
  if (value.kind() != Kind::kString) return false;
  id = value.text();
  return IsId(id);
}

inline bool SlotEvent::ReadTime(Field field, const BinaryValue& value, TimeMs& time) const {
  const TimeUnit unit = (*plan_)[field].unit;
  if (value.kind() == Kind::kTime || (value.kind() == Kind::kInteger && unit == TimeUnit::kMilliseconds)) {
    time = {value.integer()};
    return time.value >= 0 && time.value < kExposedAtEnd;
  }
  std::optional<TimeMs> read;
  if (value.kind() == Kind::kInteger) read = TimeOf(value.integer(), unit);
  if (value.kind() == Kind::kString && unit == TimeUnit::kRfc3339) read = ParseTimestamp(value.text());
  time = read.value_or(TimeMs{});
  return read.has_value();
}

// A string; for a mapped field also an integer.
inline bool SlotEvent::ReadText(Field field, std::string_view& text) {
  if (!Has(field)) return true;
  const BinaryValue& value = ValueOf(field);
  if (IsInteger(value) && (*plan_)[field].mapped) {
    text = DigitsOf(value);
    return true;
  }
  if (value.kind() != Kind::kString) return false;
  text = value.text();
  return true;
}

Scalar SlotEvent::ScalarOf(const BinaryValue& value) {
  switch (value.kind()) {
    case Kind::kString:
      return {ScalarKind::kString, value.text()};
    case Kind::kInteger:
    case Kind::kUnsigned:
    case Kind::kTime:
      return {ScalarKind::kInteger, DigitsOf(value)};
    case Kind::kBoolean:
      return {ScalarKind::kBoolean, value.integer() != 0 ? "true" : "false"};
    default:
      return {ScalarKind::kOther, {}};
  }
}

bool SlotEvent::ReadItemDetails(const BinaryValue* position, const BinaryValue* created_at,
                                ItemDetails& details) const {
  if (position != nullptr) {
    if (!IsInteger(*position)) return false;
    const bool is_great = position->kind() == Kind::kUnsigned;
    if (plan_->wanted.position)
      details.position = is_great ? std::numeric_limits<int64_t>::max() : position->integer();
  }
  if (created_at != nullptr && plan_->wanted.item_created_at) {
    TimeMs time;
    if (!ReadTime(Field::kItemCreatedAt, *created_at, time)) return false;
    details.created_at = time;
  }
  return true;
}

bool SlotEvent::AddItem(const BinaryValue& value) {
  return value.kind() == Kind::kString ? AddText(value.text()) : AddItemWithId(value);
}

bool SlotEvent::AddItemWithId(const BinaryValue& value) {
  std::string_view id;
  return ReadId(value, id) && AddId(id);
}

bool SlotEvent::EndItem() {
  const auto find = [&](Field field) -> const BinaryValue* {
    const auto slot = static_cast<size_t>(field);
    return (item_present_ >> slot & 1) != 0 ? &item_values_[slot] : nullptr;
  };
  const BinaryValue* const id = find(Field::kItemId);
  if (id == nullptr || !AddItemWithId(*id)) return false;
  ItemDetails details;
  if (!ReadItemDetails(find(Field::kPosition), find(Field::kItemCreatedAt), details)) return false;
  if (plan_->details) buffers_->details.back() = details;
  return true;
}

inline bool SlotEvent::ReadKind(Event& event) {
  if (!plan_->wanted.kind || !Has(Field::kKind)) return true;
  std::string_view name;
  const BinaryValue& value = ValueOf(Field::kKind);
  if (IsInteger(value)) {
    name = DigitsOf(value);
  } else if (value.kind() == Kind::kString) {
    name = value.text();
  } else {
    return false;
  }
  const auto found = plan_->kinds.Find(name);
  // An erasure has its own rules and is rare: the long way reads it.
  if (!found.known || found.kind == EventKind::kErased) return false;
  if (found.skipped) event.skip = SkipReason::kKind;
  event.kind = found.kind;
  return true;
}

// The first place with an id that isn't ignored. Left to the long way: a value that can't be an id.
inline bool SlotEvent::ReadUser(Event& event) {
  SkipReason skip = SkipReason::kNone;
  for (const uint8_t slot : plan_->user_slots) {
    if ((present_ >> slot & 1) == 0) continue;
    std::string_view id;
    if (!ReadId(values_[slot], id)) return false;
    if (plan_->chooses_user && plan_->ids_ignored.Find(id) != NameTable::kNone) {
      skip = SkipReason::kIgnoredId;
      continue;
    }
    event.user_id = id;
    return true;
  }
  event.skip = skip;
  return skip != SkipReason::kNone;
}

// For conditions, of the event and of filters.
Attributes SlotEvent::ReadAttributes() {
  const uint32_t asked = present_ & plan_->condition_slots;
  for (size_t slot = 0; asked >> slot != 0; ++slot) {
    if (asked >> slot & 1) scalars_[slot] = ScalarOf(values_[slot]);
  }
  return {scalars_.data(), asked};
}

inline bool SlotEvent::ReadItems(Event& event) {
  const bool one = Has(Field::kItemId);
  if (one == has_items_) return false;
  if (one && !AddItemWithId(ValueOf(Field::kItemId))) return false;
  // All at once, so that the processor hashes several side by side.
  for (ExposedItem& item : buffers_->items) item.fingerprint = FingerprintOf(item.item_id);
  event.items = buffers_->items;
  return !event.items.empty();
}

// Details that the event has for all of its items complete each item's own details.
bool SlotEvent::ReadDetails(Event& event) {
  ItemDetails common;
  const auto find = [&](Field field) { return Has(field) ? &ValueOf(field) : nullptr; };
  if (!ReadItemDetails(find(Field::kPosition), find(Field::kItemCreatedAt), common)) return false;
  for (ItemDetails& details : buffers_->details) details.Complete(common);
  event.details = buffers_->details;
  return true;
}

bool SlotEvent::Finish(Event& event) {
  const bool extras = plan_->extras;
  const Attributes attributes = extras ? ReadAttributes() : Attributes();
  if (extras && !AllHold(plan_->only_if, attributes)) event.skip = SkipReason::kCondition;
  if (event.skip != SkipReason::kNone) return true;
  if (!ReadKind(event)) return false;
  if (event.skip != SkipReason::kNone) return true;
  if (!ReadUser(event)) return false;
  if (event.skip != SkipReason::kNone) return true;
  if (!Has(Field::kExposedAt) || !ReadTime(Field::kExposedAt, ValueOf(Field::kExposedAt), event.exposed_at))
    return false;
  if (!ReadItems(event)) return false;
  if (!extras) return true;
  std::string_view scene, request_id;
  if (!ReadText(Field::kScene, scene) || !ReadDetails(event) || !ReadText(Field::kRequestId, request_id))
    return false;
  if (plan_->wanted.scene) event.scene = scene;
  if (plan_->wanted.request_id) event.request_id = request_id;
  event.filters = plan_->coverage.Of(event.scene, attributes);
  return true;
}

}  // namespace seen
