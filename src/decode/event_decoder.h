#pragma once
// JSON bytes of a front-end event -> Event. schemas/exposure_event.schema.json says what is accepted.

#include <memory>
#include <string_view>
#include <tl/expected.hpp>

#include "model/event.h"

namespace seen {

/// Reuses its buffers: no allocation per event once warm. One per thread.
class EventDecoder {
 public:
  explicit EventDecoder(size_t event_bytes_max);
  ~EventDecoder();
  EventDecoder(EventDecoder&&) noexcept;
  EventDecoder& operator=(EventDecoder&&) noexcept;

  /// The event's views stay valid while `payload` does, until the next call at most. A rejection is not this
  /// program's error, hence not a Result: the record goes to the dead-letter topic with its reason and field.
  tl::expected<Event, Rejection> Decode(std::string_view payload);

 private:
  struct Buffers;
  size_t event_bytes_max_;
  std::unique_ptr<Buffers> buffers_;
};

}  // namespace seen
