#pragma once
// JSON bytes of a front-end event -> Event. schemas/exposure_event.schema.json says what is accepted by
// default. An EventFormat describes a topic whose events differ.

#include <memory>
#include <string_view>
#include <tl/expected.hpp>

#include "decode/event_plan.h"
#include "model/event.h"

namespace seen {

/// Reuses its buffers: no allocation per event once warm. One per thread; decoders may share a plan.
class EventDecoder {
 public:
  explicit EventDecoder(size_t event_bytes_max,
                        const std::shared_ptr<const EventPlan>& plan = EventPlan::Default());
  ~EventDecoder();
  EventDecoder(EventDecoder&&) noexcept;
  EventDecoder& operator=(EventDecoder&&) noexcept;

  /// The event's views are valid as long as `payload`, and at most until the next call. A rejection isn't an
  /// error of this program, so this isn't a Result. The record goes to the dead-letter topic with the
  /// rejection's reason and field. If the plan has conditions, or kinds to be skipped, check the event's
  /// `skip` first.
  tl::expected<Event, Rejection> Decode(std::string_view payload);

 private:
  struct Buffers;
  struct Readers;
  size_t event_bytes_max_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace seen
