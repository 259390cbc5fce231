#pragma once
// How much a replay may have under way, so that live events don't wait behind it.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace seen {

/// How many records may be sent and not yet acknowledged. Each acknowledgement that comes in time widens the
/// window by a step, if half of the window was in use. One that takes longer than the quickest by more than
/// `queueing_max` shows a queue: at the brokers, or for a processor. It narrows the window by a third.
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

  /// A record is acknowledged, `latency` after it was sent; `in_flight` others were sent then and not
  /// acknowledged. At most one record a round trip.
  void Acknowledged(std::chrono::microseconds latency, uint64_t in_flight, Instant now);

  size_t size() const { return size_; }  // records
  /// The quickest acknowledgement of the last one to two minutes.
  std::chrono::microseconds quickest() const { return std::min(quickest_, quickest_before_); }

 private:
  const std::chrono::microseconds queueing_max_;
  size_t size_ = kFirst;
  Instant since_{};  // the current minute
  std::chrono::microseconds quickest_ = std::chrono::microseconds::max();
  std::chrono::microseconds quickest_before_ = std::chrono::microseconds::max();  // in the minute before
};

}  // namespace seen
