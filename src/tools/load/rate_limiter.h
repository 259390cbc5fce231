#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <thread>

#include "base/clock.h"

namespace seen {

/// Limits a loop to `events_per_second`; 0: no limit. After a pause the loop catches up at most 100 ms worth
/// of events. So a slow broker doesn't get a burst. One thread.
class RateLimiter {
 public:
  explicit RateLimiter(double events_per_second, Instant start = SystemClock().Now())
      : ns_per_event_(events_per_second > 0 ? 1e9 / events_per_second : 0), due_(start) {}

  /// Returns how long to wait before `events` more events may go.
  std::chrono::nanoseconds Take(uint64_t events, Instant now) {
    if (ns_per_event_ == 0) return {};
    due_ = std::max(due_, now - std::chrono::milliseconds(100));
    const auto wait = due_ - now;
    carry_ns_ += ns_per_event_ * static_cast<double>(events);
    const auto whole = static_cast<int64_t>(carry_ns_);
    carry_ns_ -= static_cast<double>(whole);
    due_ += std::chrono::nanoseconds(whole);
    return std::max<std::chrono::nanoseconds>(wait, {});
  }

  /// Sleeps as long as Take says. Skips waits under half a millisecond: they add up to a longer wait.
  void Wait(uint64_t events = 1) {
    if (ns_per_event_ == 0) return;
    const auto wait = Take(events, SystemClock().Now());
    if (wait > std::chrono::microseconds(500)) std::this_thread::sleep_for(wait);
  }

 private:
  double ns_per_event_;
  double carry_ns_ = 0;
  Instant due_;
};

}  // namespace seen
