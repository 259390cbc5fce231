#pragma once
// JSON bytes of a front-end event -> Event. schemas/exposure_event.schema.json says what is accepted by
// default, an EventFormat what a topic's events look like otherwise.

#include <memory>
#include <string_view>
#include <tl/expected.hpp>

#include "decode/event_plan.h"
#include "model/event.h"

namespace seen {

/// Reuses its buffers: no allocation per event once warm. One per thread; they may share a plan.
class EventDecoder {
 public:
  explicit EventDecoder(size_t event_bytes_max,
                        const std::shared_ptr<const EventPlan>& plan = EventPlan::Default());
  ~EventDecoder();
  EventDecoder(EventDecoder&&) noexcept;
  EventDecoder& operator=(EventDecoder&&) noexcept;

  /// The event's views stay valid while `payload` does, until the next call at most. A rejection is not this
  /// program's error, hence not a Result: the record goes to the dead-letter topic with its reason and field.
  /// Look at `skip` first where the plan has conditions or kinds to be skipped.
  tl::expected<Event, Rejection> Decode(std::string_view payload);

 private:
  struct Buffers;
  struct Readers;
  size_t event_bytes_max_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace seen
