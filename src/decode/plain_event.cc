#include "decode/plain_event.h"

#include <simdjson.h>

#include <bit>
#include <cstring>

#include "decode/event_format.h"
#include "decode/plain_scanner.h"

namespace seen {
namespace {

constexpr uint32_t BitOf(Field field) { return SlotBit(static_cast<size_t>(field)); }

constexpr uint32_t kUserId = BitOf(Field::kUserId);
constexpr uint32_t kItemId = BitOf(Field::kItemId);
constexpr uint32_t kItems = BitOf(Field::kItems);
constexpr uint32_t kExposedAt = BitOf(Field::kExposedAt);
constexpr uint32_t kScene = BitOf(Field::kScene);
constexpr uint32_t kPosition = BitOf(Field::kPosition);
constexpr uint32_t kRequestId = BitOf(Field::kRequestId);
constexpr uint32_t kKind = BitOf(Field::kKind);
constexpr uint32_t kItemCreatedAt = BitOf(Field::kItemCreatedAt);

// For members such as "position": the value is of `kind`, or null.
bool IsNullable(const Scalar& value, ScalarKind kind) {
  return value.kind == kind || value.kind == ScalarKind::kNull;
}

// `text`: an integer from the scanner, which is within 64 bits.
int64_t IntegerOf(std::string_view text) {
  return text.front() == '-' ? -NumberOf(text.substr(1)) : NumberOf(text);
}

bool ReadTimeMs(const Scalar& value, TimeMs& time) {
  if (value.kind != ScalarKind::kInteger || value.text.front() == '-') return false;
  time = {NumberOf(value.text)};
  return time.value < kExposedAtEnd;
}

bool ReadTime(const Scalar& value, TimeUnit unit, TimeMs& time) {
  if (unit == TimeUnit::kMilliseconds) return ReadTimeMs(value, time);
  const bool is_text = unit == TimeUnit::kRfc3339;
  if (value.kind != (is_text ? ScalarKind::kString : ScalarKind::kInteger)) return false;
  const auto read = is_text ? ParseTimestamp(value.text) : TimeOf(IntegerOf(value.text), unit);
  time = read.value_or(TimeMs{});
  return read.has_value();
}

// A string or null; for a mapped field also an integer.
bool ReadText(const Scalar& value, bool mapped, std::string_view& text) {
  if (value.kind == ScalarKind::kInteger && !mapped) return false;
  if (value.kind != ScalarKind::kInteger && !IsNullable(value, ScalarKind::kString)) return false;
  text = value.text;
  return true;
}

// Reads the position and the creation time, if they are `present`.
bool ReadItemDetails(const EventPlan& plan, const Scalar& position, const Scalar& created_at,
                     uint32_t present, ItemDetails& details) {
  if (plan.wanted.position && (present & kPosition) != 0) {
    if (!IsNullable(position, ScalarKind::kInteger)) return false;
    if (position.kind == ScalarKind::kInteger) details.position = IntegerOf(position.text);
  }
  if (plan.wanted.item_created_at && (present & kItemCreatedAt) != 0 &&
      created_at.kind != ScalarKind::kNull) {
    TimeMs time;
    if (!ReadTime(created_at, plan[Field::kItemCreatedAt].unit, time)) return false;
    details.created_at = time;
  }
  return true;
}

// Takes the separator before a name (a brace before the first), the name and its colon.
[[gnu::always_inline]] inline bool TakeName(PlainScanner& json, PlainShape& shape, const NameTable& names,
                                            size_t number, uint32_t& slot_bit) {
  PlainShape::Name* const remembered = number < PlainShape::kNamesMax ? &shape.names[number] : nullptr;
  if (remembered && json.ConsumeRemembered(*remembered)) [[likely]] {
    slot_bit = remembered->slot_bit;
    return true;
  }
  const char* const from = json.at();
  std::string_view name;
  if (!json.Take(number == 0 ? '{' : ',') || !json.ConsumeString(name) || !json.Take(':')) return false;
  const uint8_t slot = names.Find(name);
  slot_bit = slot == NameTable::kNone ? 0 : SlotBit(slot);
  if (remembered && !json.beyond_ascii()) json.Remember(from, slot_bit, *remembered);
  return true;
}

template <bool kDetails>
[[gnu::always_inline]] inline bool ReadItemObject(PlainScanner& json, PlainShape& shape,
                                                  const EventPlan& plan, Scalar& id, ItemDetails& details) {
  Scalar position, created_at;
  uint32_t present = 0;
  for (size_t number = 0; number == 0 || json.Peek() != '}'; ++number) {
    uint32_t slot;
    Scalar value;
    if (!TakeName(json, shape, plan.element_names, number, slot) || (present & slot)) return false;
    const char* const from = json.at();
    if (!json.ConsumeScalar(value) && (slot != 0 || !json.SkipValue(from))) return false;
    present |= slot;
    if (slot == kItemId) id = value;
    if (slot == kPosition) {
      if (!IsNullable(value, ScalarKind::kInteger)) return false;
      if constexpr (kDetails) position = value;
    }
    if constexpr (kDetails) {
      if (slot == kItemCreatedAt) created_at = value;
    }
  }
  if constexpr (kDetails) {
    if (!ReadItemDetails(plan, position, created_at, present, details)) return false;
  }
  return json.Take('}') && (present & kItemId) != 0;
}

template <bool kDetails>
[[gnu::always_inline]] inline bool ReadItems(PlainScanner& json, PlainShape& shape, const EventPlan& plan,
                                             EventBuffers& buffers) {
  if (!json.Take('[')) return false;
  do {
    Scalar id;
    ItemDetails details;
    const bool read = json.Peek() == '{' ? ReadItemObject<kDetails>(json, shape, plan, id, details)
                                         : json.ConsumeScalar(id);
    if (!read || !IsId(id) || buffers.items.size() == kItemsMax) return false;
    buffers.items.push_back({id.text, FingerprintOf(id.text)});
    if constexpr (kDetails) buffers.details.push_back(details);
  } while (json.Take(','));
  return json.Take(']');
}

}  // namespace

bool PlainEventReader::ReadKind(const Scalar& value, Event& event) const {
  if (value.kind == ScalarKind::kNull) return true;
  if (value.kind == ScalarKind::kBoolean) return false;
  const auto found = plan_->kinds.Find(value.text);
  // An erasure has its own rules and is rare: the long way reads it.
  if (!found.known || found.kind == EventKind::kErased) return false;
  if (found.skipped) event.skip = SkipReason::kKind;
  event.kind = found.kind;
  return true;
}

// Reads what isn't read by default: conditions, texts, coverage.
bool PlainEventReader::ReadExtras(uint32_t present, Event& event) const {
  const EventPlan& plan = *plan_;
  const Attributes attributes{values_.data(), present};
  if (!AllHold(plan.only_if, attributes)) {
    event.skip = SkipReason::kCondition;
    return true;
  }
  if (plan.wanted.scene && (present & kScene) != 0 &&
      !ReadText(ValueOf(Field::kScene), plan[Field::kScene].mapped, event.scene))
    return false;
  if (plan.wanted.request_id && (present & kRequestId) != 0 &&
      !ReadText(ValueOf(Field::kRequestId), plan[Field::kRequestId].mapped, event.request_id))
    return false;
  event.filters = plan.coverage.Of(event.scene, attributes);
  return true;
}

// The first pointer with an id that isn't ignored. Left to the long way: a value that can't be an id.
bool PlainEventReader::ReadUser(uint32_t present, Event& event) const {
  SkipReason skip = SkipReason::kNone;
  for (const uint8_t slot : plan_->user_slots) {
    if ((present & SlotBit(slot)) == 0 || values_[slot].kind == ScalarKind::kNull) continue;
    if (!IsId(values_[slot])) return false;
    event.user_id = values_[slot].text;
    if (plan_->ids_ignored.Find(event.user_id) == NameTable::kNone) return true;
    skip = SkipReason::kIgnoredId;
  }
  event.skip = skip;
  return skip != SkipReason::kNone;
}

// Details that the event has for all of its items complete each item's own details.
bool PlainEventReader::ReadDetails(uint32_t present, EventBuffers& buffers, Event& event) const {
  ItemDetails common;
  if (!ReadItemDetails(*plan_, ValueOf(Field::kPosition), ValueOf(Field::kItemCreatedAt), present, common))
    return false;
  if (present & kItemId) buffers.details.push_back({});
  for (ItemDetails& details : buffers.details) details.Complete(common);
  event.details = buffers.details;
  return true;
}

bool PlainEventReader::Read(std::string_view payload, EventBuffers& buffers, Event& event) {
  if (extent_ == Extent::kBasics) [[likely]]
    return ReadAs<Extent::kBasics>(payload, buffers, event);
  if (extent_ == Extent::kExtras) return ReadAs<Extent::kExtras>(payload, buffers, event);
  return ReadAs<Extent::kDetails>(payload, buffers, event);
}

// Code for parts that aren't wanted isn't compiled into the function: a call or a branch in this loop costs
// noticeable time.
template <PlainEventReader::Extent kExtent>
bool PlainEventReader::ReadAs(std::string_view payload, EventBuffers& buffers, Event& event) {
  constexpr bool kExtras = kExtent != Extent::kBasics;
  constexpr bool kDetails = kExtent == Extent::kDetails;
  const EventPlan& plan = *plan_;
  PlainScanner json(payload);
  std::string_view user_id, item;
  TimeMs exposed_at;
  Scalar kind;
  uint32_t present = 0;
  buffers.Clear();
  for (size_t number = 0; number == 0 || json.Peek() != '}'; ++number) {
    uint32_t slot;
    if (!TakeName(json, event_, plan.event_names, number, slot) || (present & slot)) return false;
    present |= slot;
    if (slot == kItems) {
      if (!ReadItems<kDetails>(json, item_, plan, buffers)) return false;
      continue;
    }
    Scalar value;
    const char* const from = json.at();
    bool fits = json.ConsumeScalar(value);
    if (!fits) [[unlikely]] {
      // A text that isn't read may have escapes.
      const bool unread =
          slot == 0 || (!kExtras && (slot & (kScene | kRequestId)) != 0 && value.kind == ScalarKind::kString);
      fits = unread && json.SkipValue(from);
    }
    if constexpr (kExtras) {
      if (slot != 0) values_[static_cast<size_t>(std::countr_zero(slot))] = value;
    }
    switch (slot) {
      case kUserId:
        fits &= IsId(value) || (kExtras && plan.chooses_user && value.kind == ScalarKind::kNull);
        user_id = value.text;
        break;
      case kItemId:
        fits &= IsId(value);
        item = value.text;
        break;
      case kExposedAt:
        fits = fits && (kExtras ? ReadTime(value, plan[Field::kExposedAt].unit, exposed_at)
                                : ReadTimeMs(value, exposed_at));
        break;
      case kPosition:
        fits &= IsNullable(value, ScalarKind::kInteger);
        break;
      case kKind:
        kind = value;
        break;
      case kScene:
      case kRequestId:
        fits &= IsNullable(value, ScalarKind::kString) ||
                (kExtras && plan.fields[static_cast<size_t>(std::countr_zero(slot))].mapped);
        break;
      default:
        break;
    }
    if (!fits) return false;
  }
  if (!json.Take('}') || !json.AtEnd()) return false;
  if (json.beyond_ascii() && !simdjson::validate_utf8(payload.data(), payload.size())) return false;
  if constexpr (kExtras) {
    if (!ReadExtras(present, event)) return false;
  }
  // An event that a condition skips may be of any kind.
  if ((present & kKind) != 0 && event.skip == SkipReason::kNone && !ReadKind(kind, event)) return false;
  if (event.skip != SkipReason::kNone) [[unlikely]]
    return true;
  if constexpr (kExtras) {
    if (plan.chooses_user) {
      if (!ReadUser(present, event)) return false;
      if (event.skip != SkipReason::kNone) return true;
      user_id = event.user_id;
      present |= kUserId;
    }
  }
  constexpr uint32_t kNeeded = kUserId | kExposedAt;
  const bool one = (present & kItemId) != 0;
  if ((present & kNeeded) != kNeeded || one == ((present & kItems) != 0)) return false;
  if (one) buffers.items.push_back({item, FingerprintOf(item)});
  event.user_id = user_id;
  event.exposed_at = exposed_at;
  event.items = buffers.items;
  return !kDetails || ReadDetails(present, buffers, event);
}

}  // namespace seen
