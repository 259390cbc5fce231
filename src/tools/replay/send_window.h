#pragma once
// Limits what a replay has in flight, so that live events don't wait behind it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace seen {

/// The number of records that may be sent and not yet acknowledged. An acknowledgement in time widens the
/// window by a step, if at least half of the window was in use. An acknowledgement is late if it takes longer
/// than the quickest one, by more than `queueing_max` and by more than half of the quickest time. A late
/// acknowledgement shows a queue, at the brokers or for a processor, and narrows the window by a third.
/// Source: delay-based control as in LEDBAT (RFC 6817), additive increase and multiplicative decrease as in
/// TCP. One thread.
class SendWindow {
 public:
  static constexpr size_t kFirst = 1'000;
  static constexpr size_t kLeast = 200;
  static constexpr size_t kMost = 20'000;
  static constexpr size_t kStep = 50;

  /// `queueing_max`: includes the time that a record waits for its batch.
  explicit SendWindow(std::chrono::microseconds queueing_max) : queueing_max_(queueing_max) {}

  /// Call it when a record is acknowledged, `latency` after it was sent. `in_flight`: other records that were
  /// sent and not acknowledged at that time. At most one record per round trip.
  void Acknowledged(std::chrono::microseconds latency, uint64_t in_flight, Instant now);

  size_t size() const { return size_; }  // records
  /// The quickest acknowledgement of the last one to two minutes.
  std::chrono::microseconds quickest() const { return std::min(quickest_, quickest_before_); }

 private:
  const std::chrono::microseconds queueing_max_;
  size_t size_ = kFirst;
  Instant since_{};  // start of the current minute
  std::chrono::microseconds quickest_ = std::chrono::microseconds::max();
  std::chrono::microseconds quickest_before_ = std::chrono::microseconds::max();  // in the minute before
};

}  // namespace seen
