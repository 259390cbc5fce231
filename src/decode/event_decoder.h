#pragma once
// Bytes of a front-end event -> Event. schemas/exposure_event.schema.json says what is accepted by default.
// An EventFormat describes a topic whose events differ.

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "base/clock.h"
#include "decode/binary_reader.h"
#include "decode/event_plan.h"
#include "model/event.h"

namespace seen {

/// Reuses its buffers: no allocation per event once warm. One per thread; decoders may share a plan.
class EventDecoder {
 public:
  explicit EventDecoder(size_t event_bytes_max,
                        const std::shared_ptr<const EventPlan>& plan = EventPlan::Default(),
                        MissingSchema missing = MissingSchema::kWait);
  ~EventDecoder();
  EventDecoder(EventDecoder&&) noexcept;
  EventDecoder& operator=(EventDecoder&&) noexcept;

  /// The event's views are valid as long as `payload`, and at most until the next call. A rejection isn't an
  /// error of this program, so this isn't a Result. The record goes to the dead-letter topic with the
  /// rejection's reason and field. If the plan has conditions, or kinds to be skipped, check the event's
  /// `skip` first. kSchemaPending is no rejection: the caller gives the record again later.
  tl::expected<Event, Rejection> Decode(std::string_view payload);

 private:
  struct Buffers;
  struct Readers;
  tl::expected<Event, Rejection> DecodeBinary(std::string_view payload);
  size_t event_bytes_max_;
  std::unique_ptr<Buffers> buffers_;
};

// Events that this program itself writes into the input topic. They have their own format, whatever the
// topic's format is. So they mean the same to every replica and after every change of configuration.

/// The first bytes of such an event. The rest is the default format.
inline constexpr std::string_view kOwnEventStart = R"({"seen_event":1,)";

struct OwnEvent {
  std::string_view user_id;
  std::span<const std::string_view> items;  // empty: an erasure
  std::string_view kind;                    // "removed", "erased", ...
  TimeMs at;
};

/// Whether a record's payload is such an event.
inline bool IsOwnEvent(std::string_view payload) { return payload.starts_with(kOwnEventStart); }

/// Ids are UTF-8. Pure.
std::string EncodeOwnEvent(const OwnEvent& event);

}  // namespace seen
