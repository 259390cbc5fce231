#include "decode/event_decoder.h"

#include <optional>

#include "decode/document_event.h"
#include "decode/json_document.h"
#include "decode/json_text.h"
#include "decode/plain_event.h"

namespace seen {

namespace {
constexpr size_t kJsonKept = size_t{1} << 20;  // of an event that isn't JSON, for the next one
}  // namespace

struct EventDecoder::Readers {
  explicit Readers(const std::shared_ptr<const EventPlan>& plan)
      : is_plain(plan->plain), plain(plan), document(plan) {}

  bool is_plain;
  PlainEventReader plain;
  DocumentEventReader document;
};

struct EventDecoder::Buffers {
  Buffers(size_t event_bytes_max, const std::shared_ptr<const EventPlan>& plan, MissingSchema missing)
      : document(event_bytes_max, {}, plan->lenient), readers(plan), framed(plan->framed) {
    if (plan->own) own.emplace(plan->own);
    if (plan->binary) binary = plan->binary->NewReader(plan, missing);
  }

  EventBuffers event;
  JsonDocument document;  // strings of the event point into it
  Readers readers;
  std::optional<Readers> own;  // for this program's own events, if the topic's format differs
  bool framed;
  std::unique_ptr<BinaryReader> binary;  // nullptr: events are JSON
  // Of an event that the binary reader reads the long way.
  std::string json;
  std::optional<JsonDocument> converted{SIZE_MAX};
};

EventDecoder::EventDecoder(size_t event_bytes_max, const std::shared_ptr<const EventPlan>& plan,
                           MissingSchema missing)
    : event_bytes_max_(event_bytes_max),
      buffers_(std::make_unique<Buffers>(event_bytes_max, plan, missing)) {}
EventDecoder::~EventDecoder() = default;
EventDecoder::EventDecoder(EventDecoder&&) noexcept = default;
EventDecoder& EventDecoder::operator=(EventDecoder&&) noexcept = default;

tl::expected<Event, Rejection> EventDecoder::Decode(std::string_view payload) {
  Buffers& buffers = *buffers_;
  Readers* readers = &buffers.readers;
  if (buffers.own && IsOwnEvent(payload)) [[unlikely]] {
    readers = &*buffers.own;
  } else if (buffers.binary) {
    return DecodeBinary(payload);
  }
  if (buffers.framed && IsFramed(payload)) payload.remove_prefix(kFrameBytes);
  tl::expected<Event, Rejection> event;  // every return returns this one, so it is never copied
  if (payload.size() <= event_bytes_max_ && readers->is_plain) [[likely]] {
    if (readers->plain.Read(payload, buffers.event, *event)) [[likely]]
      return event;
  }
  if (const auto object = buffers.document.ParseObject(payload)) {
    event = readers->document.Read(*object, buffers.event);
  } else {
    event = Rejected(object);
  }
  return event;
}

tl::expected<Event, Rejection> EventDecoder::DecodeBinary(std::string_view payload) {
  Buffers& buffers = *buffers_;
  if (payload.size() > event_bytes_max_) {
    const auto too_large = buffers.document.ParseObject(payload);  // says so, and reads nothing
    return Rejected(too_large);
  }
  tl::expected<Event, Rejection> event;  // every return returns this one, so it is never copied
  if (buffers.binary->Read(payload, buffers.event, *event)) [[likely]]
    return event;
  if (buffers.json.capacity() > kJsonKept) {
    buffers.json = {};
    buffers.converted.emplace(SIZE_MAX);
  }
  buffers.json.clear();
  if (const auto appended = buffers.binary->AppendJson(payload, buffers.json); !appended) {
    event = Rejected(appended);
  } else if (const auto object = buffers.converted->ParseObject(buffers.json)) {
    event = buffers.readers.document.Read(*object, buffers.event);
    if (!event && event.error().reason == RejectReason::kMissingField) {
      const FormatError* const missing = buffers.binary->Missing();
      if (missing != nullptr && missing->path.ends_with(event.error().field))
        event.error().message += "; " + missing->path + ": " + missing->message;
    }
  } else {
    event = Rejected(object);
    event.error().reason = RejectReason::kNotDecodable;  // it isn't text that may hold several events
  }
  return event;
}

std::string EncodeOwnEvent(const OwnEvent& event) {
  std::string json(kOwnEventStart);
  json += R"("kind":)";
  AppendJsonString(event.kind, json);
  json += R"(,"user_id":)";
  AppendJsonString(event.user_id, json);
  if (!event.items.empty()) {
    json += R"(,"items":)";
    char separator = '[';
    for (const std::string_view item : event.items) {
      json += separator;
      AppendJsonString(item, json);
      separator = ',';
    }
    json += ']';
  }
  return json + R"(,"exposed_at":)" + std::to_string(event.at.value) + "}";
}

}  // namespace seen
