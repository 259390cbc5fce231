#include "decode/event_decoder.h"

#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "decode/event_limits.h"
#include "decode/json_document.h"
#include "decode/plain_event.h"

namespace seen {
namespace {

namespace dom = simdjson::dom;

constexpr size_t kDigitsMax = 20;  // of an integer id, with its sign

/// The members this program reads. Of a name given twice the last one counts, as in most JSON libraries.
struct Members {
  std::optional<dom::element> user_id, item_id, items, exposed_at, scene, position, request_id;

  void Take(std::string_view name, dom::element value) {
    switch (name.size()) {
      case 5:
        if (name == "items") items = value;
        if (name == "scene") scene = value;
        return;
      case 7:
        if (name == "user_id") user_id = value;
        if (name == "item_id") item_id = value;
        return;
      case 8:
        if (name == "position") position = value;
        return;
      case 10:
        if (name == "exposed_at") exposed_at = value;
        if (name == "request_id") request_id = value;
        return;
      default:
        return;
    }
  }
};

Members MembersOf(dom::object object) {
  Members members;
  for (const dom::key_value_pair member : object) members.Take(member.key, member.value);
  return members;
}

}  // namespace

struct EventDecoder::Buffers {
  explicit Buffers(size_t event_bytes_max) : document(event_bytes_max) {}

  PlainEventReader plain;
  JsonDocument document;  // strings of the event point into it
  std::vector<ExposedItem> items;
  std::vector<std::array<char, kDigitsMax>> digits;  // integer ids, written out; never grows during an event

  /// `path()` is called for a message only: "user_id", "items[3].item_id".
  template <typename Path>
  tl::expected<std::string_view, Rejection> ReadId(dom::element value, std::string_view field, Path path);
  tl::expected<void, Rejection> AddItem(const dom::element& value, size_t index);
  tl::expected<void, Rejection> AddItems(dom::element value);
};

template <typename Path>
tl::expected<std::string_view, Rejection> EventDecoder::Buffers::ReadId(dom::element value,
                                                                        std::string_view field, Path path) {
  switch (value.type()) {
    case dom::element_type::STRING: {
      const std::string_view id = value.get_string().value_unsafe();
      if (id.empty()) return Reject(RejectReason::kEmptyId, field, Message(path(), "empty"));
      if (id.size() > kIdBytesMax) {
        return Reject(
            RejectReason::kIdTooLong, field,
            Message(path(), std::to_string(id.size()) + " bytes", "at most " + std::to_string(kIdBytesMax)));
      }
      return id;
    }
    case dom::element_type::INT64:
    case dom::element_type::UINT64: {
      auto& text = digits.emplace_back();
      const auto end =
          value.type() == dom::element_type::INT64
              ? std::to_chars(text.data(), text.data() + text.size(), value.get_int64().value_unsafe())
              : std::to_chars(text.data(), text.data() + text.size(), value.get_uint64().value_unsafe());
      return std::string_view(text.data(), static_cast<size_t>(end.ptr - text.data()));
    }
    default:
      return Reject(IsBigInteger(value) ? RejectReason::kOutOfRange : RejectReason::kWrongType, field,
                    Message(path(), TypeName(value), "a string or a 64-bit integer"));
  }
}

namespace {

/// Members that are read by nobody here, but whose type the schema fixes, so that a producer learns of a
/// mistake.
tl::expected<void, Rejection> CheckNullable(const std::optional<dom::element>& value, std::string_view field,
                                            bool integer) {
  if (!value || value->is_null() || (integer ? Is64BitInteger(*value) : value->is_string())) return {};
  return Reject(integer && IsBigInteger(*value) ? RejectReason::kOutOfRange : RejectReason::kWrongType, field,
                Message(field, TypeName(*value), integer ? "a 64-bit integer or null" : "a string or null"));
}

tl::expected<TimeMs, Rejection> ReadExposedAt(const std::optional<dom::element>& value) {
  constexpr std::string_view kField = "exposed_at";
  constexpr std::string_view kExpected = "milliseconds since 1970 in 0..4294967295999";
  if (!value) return Reject(RejectReason::kMissingField, kField, Message(kField, "missing"));
  if (!Is64BitInteger(*value) && !IsBigInteger(*value)) {
    return Reject(RejectReason::kWrongType, kField, Message(kField, TypeName(*value), "an integer"));
  }
  int64_t time_ms = 0;
  if (value->get(time_ms)) {
    return Reject(RejectReason::kOutOfRange, kField, Message(kField, "an integer beyond 2^63", kExpected));
  }
  if (time_ms < 0 || time_ms >= kExposedAtEnd) {
    return Reject(RejectReason::kOutOfRange, kField, Message(kField, std::to_string(time_ms), kExpected));
  }
  return TimeMs{time_ms};
}

}  // namespace

tl::expected<void, Rejection> EventDecoder::Buffers::AddItem(const dom::element& value, size_t index) {
  const auto path = [index](std::string_view member) {
    return "items[" + std::to_string(index) + "]" + std::string(member);
  };
  dom::object object;
  const bool is_object = value.get(object) == simdjson::SUCCESS;
  std::optional<dom::element> id = value;
  if (is_object) {
    const Members members = MembersOf(object);
    id = members.item_id;
    if (!id) return Reject(RejectReason::kMissingField, "item_id", Message(path(".item_id"), "missing"));
    if (auto checked = CheckNullable(members.position, "position", true); !checked) {
      checked.error().message.insert(0, path("."));
      return checked;
    }
  }
  const std::string_view field = is_object ? "item_id" : "items";
  const auto read = ReadId(*id, field, [&] { return path(is_object ? ".item_id" : ""); });
  if (!read) return Rejected(read);
  items.push_back({*read, FingerprintOf(*read)});
  return {};
}

tl::expected<void, Rejection> EventDecoder::Buffers::AddItems(dom::element value) {
  constexpr std::string_view kField = "items";
  dom::array array;
  if (value.get(array)) {
    return Reject(RejectReason::kWrongType, kField, Message(kField, TypeName(value), "an array"));
  }
  const size_t count = array.size();
  if (count == 0)
    return Reject(RejectReason::kMissingField, kField, Message(kField, "empty", "at least one item"));
  if (count > kItemsMax) {
    return Reject(RejectReason::kTooLarge, kField,
                  Message(kField, std::to_string(count) + " items", "at most " + std::to_string(kItemsMax)));
  }
  items.reserve(count);
  digits.reserve(count + 1);
  size_t index = 0;
  for (const dom::element element : array) {
    if (auto added = AddItem(element, index++); !added) return added;
  }
  return {};
}

EventDecoder::EventDecoder(size_t event_bytes_max)
    : event_bytes_max_(event_bytes_max), buffers_(std::make_unique<Buffers>(event_bytes_max)) {}
EventDecoder::~EventDecoder() = default;
EventDecoder::EventDecoder(EventDecoder&&) noexcept = default;
EventDecoder& EventDecoder::operator=(EventDecoder&&) noexcept = default;

tl::expected<Event, Rejection> EventDecoder::Decode(std::string_view payload) {
  Buffers& buffers = *buffers_;
  if (payload.size() <= event_bytes_max_) [[likely]] {
    if (const auto plain = buffers.plain.Read(payload, buffers.items)) [[likely]]
      return *plain;
  }
  const auto object = buffers.document.ParseObject(payload);
  if (!object) return Rejected(object);
  const Members members = MembersOf(*object);

  if (!members.user_id) return Reject(RejectReason::kMissingField, "user_id", "user_id: missing");
  if (members.item_id && members.items) {
    return Reject(RejectReason::kWrongType, "items", "items: given beside item_id; expected one of the two");
  }
  if (!members.item_id && !members.items)
    return Reject(RejectReason::kMissingField, "item_id", "item_id: missing");

  buffers.items.clear();
  buffers.digits.clear();
  // Room for the user id and a single item id, before there is a view into it.
  buffers.digits.reserve(2);
  if (members.items) {
    if (auto added = buffers.AddItems(*members.items); !added) return Rejected(added);
  } else {
    const auto id = buffers.ReadId(*members.item_id, "item_id", [] { return "item_id"; });
    if (!id) return Rejected(id);
    buffers.items.push_back({*id, FingerprintOf(*id)});
  }
  const auto user_id = buffers.ReadId(*members.user_id, "user_id", [] { return "user_id"; });
  if (!user_id) return Rejected(user_id);
  const auto exposed_at = ReadExposedAt(members.exposed_at);
  if (!exposed_at) return Rejected(exposed_at);
  if (auto checked = CheckNullable(members.scene, "scene", false); !checked) return Rejected(checked);
  if (auto checked = CheckNullable(members.position, "position", true); !checked) return Rejected(checked);
  if (auto checked = CheckNullable(members.request_id, "request_id", false); !checked)
    return Rejected(checked);
  return Event{*user_id, *exposed_at, buffers.items};
}

}  // namespace seen
