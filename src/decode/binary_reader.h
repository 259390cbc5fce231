#pragma once
// Reads events that aren't JSON, such as Avro's and Protobuf's. Such an event means what the JSON event with
// the same members means; a member that is null is left out.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "decode/event_buffers.h"
#include "model/event.h"

namespace seen {

struct EventPlan;
struct FormatError;

/// What a decoder does while it isn't known how an event is to be read: its schema hasn't come yet.
enum class MissingSchema : uint8_t {
  kWait,   // blocks for at most a minute
  kGiveUp  // the caller gives the record again later
};

/// One per thread.
class BinaryReader {
 public:
  virtual ~BinaryReader() = default;
  /// The short way. `event`: a new one; its views point into `payload`, `buffers` and this reader. False: the
  /// long way reads the event; `event` means nothing. One pass, no allocation once the buffers are large
  /// enough.
  virtual bool Read(std::string_view payload, EventBuffers& buffers, Event& event) = 0;
  /// The long way: appends the event as a JSON object. Rejections: kNotDecodable: `payload` isn't a whole
  /// event of its schema. kUnknownSchema. kWrongType: the plan's fields don't fit the schema. kSchemaPending:
  /// nothing is known about the record yet.
  virtual tl::expected<void, Rejection> AppendJson(std::string_view payload, std::string& json) = 0;
  /// A field that no event of the last one's schema has, but an exposure needs it or the plan maps it;
  /// nullptr: none. Such an event may be an erasure, or left out by a condition.
  virtual const FormatError* Missing() const { return nullptr; }
};

/// How the events of a topic that aren't JSON are read. Shared by all threads.
class BinaryFormat {
 public:
  virtual ~BinaryFormat() = default;
  /// `plan` is one of this format.
  virtual std::unique_ptr<BinaryReader> NewReader(std::shared_ptr<const EventPlan> plan,
                                                  MissingSchema missing) = 0;
  /// Why no event can be read by `plan`, as far as it's known before the first event.
  virtual std::optional<FormatError> Check(const std::shared_ptr<const EventPlan>& plan) const = 0;
  /// What hinders events from being read now, for people, with the remedy. Any thread.
  virtual std::vector<std::string> Troubles() const = 0;
};

// The framing of schema registries: a zero byte, and the schema's id in four bytes, most significant first.
// Source: Confluent Schema Registry, "Wire format".

inline constexpr size_t kFrameBytes = 5;
inline bool IsFramed(std::string_view payload) {
  return payload.size() >= kFrameBytes && payload.front() == '\0';
}
/// `payload`: one that IsFramed.
inline uint32_t SchemaIdOf(std::string_view payload) {
  uint32_t id = 0;
  for (const char byte : payload.substr(1, 4)) id = id << 8 | static_cast<unsigned char>(byte);
  return id;
}

}  // namespace seen
