#include "decode/plain_event.h"

#include <simdjson.h>

#include "decode/event_limits.h"
#include "decode/plain_scanner.h"

namespace seen {
namespace {

using Kind = PlainScanner::Kind;
using Scalar = PlainScanner::Scalar;

enum Member : unsigned {
  kUnknown = 0,
  kUserId = 1u << 0,
  kItemId = 1u << 1,
  kItems = 1u << 2,
  kExposedAt = 1u << 3,
  kScene = 1u << 4,
  kPosition = 1u << 5,
  kRequestId = 1u << 6,
};

Member MemberOf(std::string_view name) {
  switch (name.size()) {
    case 5:
      return name == "items" ? kItems : name == "scene" ? kScene : kUnknown;
    case 7:
      return name == "user_id" ? kUserId : name == "item_id" ? kItemId : kUnknown;
    case 8:
      return name == "position" ? kPosition : kUnknown;
    case 10:
      return name == "exposed_at" ? kExposedAt : name == "request_id" ? kRequestId : kUnknown;
    default:
      return kUnknown;
  }
}

bool IsId(const Scalar& value) {
  if (value.kind == Kind::kInteger) return true;
  return value.kind == Kind::kString && !value.text.empty() && value.text.size() <= kIdBytesMax;
}

// "position" and the like: of the kind, or null.
bool IsNullable(const Scalar& value, Kind kind) { return value.kind == kind || value.kind == Kind::kNull; }

bool ReadTime(const Scalar& value, TimeMs& time) {
  if (value.kind != Kind::kInteger || value.text.front() == '-') return false;
  int64_t ms = 0;
  for (const char digit : value.text) ms = ms * 10 + (digit - '0');
  time = {ms};
  return ms < kExposedAtEnd;
}

// The separator before a name (a brace before the first), the name and its colon.
[[gnu::always_inline]] inline bool TakeName(PlainScanner& json, PlainShape& shape, size_t number,
                                            Member& member) {
  PlainShape::Name* const remembered = number < PlainShape::kNamesMax ? &shape.names[number] : nullptr;
  if (remembered && json.TakeRemembered(*remembered)) [[likely]] {
    member = static_cast<Member>(remembered->member);
    return true;
  }
  const char* const from = json.at();
  std::string_view name;
  if (!json.Take(number == 0 ? '{' : ',') || !json.TakeString(name) || !json.Take(':')) return false;
  member = MemberOf(name);
  if (remembered && !json.beyond_ascii()) json.Remember(from, static_cast<uint8_t>(member), *remembered);
  return true;
}

bool ReadItemObject(PlainScanner& json, PlainShape& shape, Scalar& id) {
  unsigned met = 0;
  for (size_t number = 0; number == 0 || json.Peek() != '}'; ++number) {
    Member member;
    Scalar value;
    if (!TakeName(json, shape, number, member) || !json.TakeScalar(value)) return false;
    if (met & member) return false;
    met |= member;
    if (member == kItemId) id = value;
    if (member == kPosition && !IsNullable(value, Kind::kInteger)) return false;
  }
  return json.Take('}') && (met & kItemId) != 0;
}

bool ReadItems(PlainScanner& json, PlainShape& shape, std::vector<ExposedItem>& items) {
  if (!json.Take('[')) return false;
  do {
    Scalar id;
    if (json.Peek() == '{' ? !ReadItemObject(json, shape, id) : !json.TakeScalar(id)) return false;
    if (!IsId(id) || items.size() == kItemsMax) return false;
    items.push_back({id.text, FingerprintOf(id.text)});
  } while (json.Take(','));
  return json.Take(']');
}

}  // namespace

std::optional<Event> PlainEventReader::Read(std::string_view payload, std::vector<ExposedItem>& items) {
  PlainScanner json(payload);
  Event event;
  std::string_view item;
  unsigned met = 0;
  items.clear();
  for (size_t number = 0; number == 0 || json.Peek() != '}'; ++number) {
    Member member;
    if (!TakeName(json, event_, number, member) || (met & member)) return std::nullopt;
    met |= member;
    if (member == kItems) {
      if (!ReadItems(json, item_, items)) return std::nullopt;
      continue;
    }
    Scalar value;
    bool fits = json.TakeScalar(value);
    switch (member) {
      case kUserId:
        fits &= IsId(value);
        event.user_id = value.text;
        break;
      case kItemId:
        fits &= IsId(value);
        item = value.text;
        break;
      case kExposedAt:
        fits = fits && ReadTime(value, event.exposed_at);
        break;
      case kPosition:
        fits &= IsNullable(value, Kind::kInteger);
        break;
      case kScene:
      case kRequestId:
        fits &= IsNullable(value, Kind::kString);
        break;
      default:
        break;
    }
    if (!fits) return std::nullopt;
  }
  if (!json.Take('}') || !json.AtEnd()) return std::nullopt;
  constexpr unsigned kNeeded = kUserId | kExposedAt;
  const bool one = (met & kItemId) != 0;
  if ((met & kNeeded) != kNeeded || one == ((met & kItems) != 0)) return std::nullopt;
  if (json.beyond_ascii() && !simdjson::validate_utf8(payload.data(), payload.size())) return std::nullopt;
  if (one) items.push_back({item, FingerprintOf(item)});
  event.items = items;
  return event;
}

}  // namespace seen
