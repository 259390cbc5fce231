#pragma once
// Keeps a log readable when the same thing goes wrong a million times.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"

namespace seen {

/// A token bucket: allows at most `lines` at once, and `lines` per `interval` over time. Thread-safe.
class LogBudget {
 public:
  explicit LogBudget(uint32_t lines = 5, std::chrono::nanoseconds interval = std::chrono::seconds(10))
      : lines_(lines), interval_(interval), tokens_(lines) {}

  /// Whether the caller may write a line now. If not, counts the line as held back.
  bool Allow(Instant now = SystemClock{}.Now()) {
    const MutexLock lock(mutex_);
    if (last_ != Instant{}) {
      const std::chrono::duration<double> passed = now - last_;
      const std::chrono::duration<double> interval = interval_;
      tokens_ = std::min<double>(lines_, tokens_ + std::max(0.0, passed / interval) * lines_);
    }
    last_ = std::max(now, last_);
    if (tokens_ < 1) {
      ++held_back_;
      return false;
    }
    tokens_ -= 1;
    return true;
  }

  /// The number of lines held back since the last call. The next line that is written reports it.
  uint64_t TakeHeldBack() {
    const MutexLock lock(mutex_);
    return std::exchange(held_back_, 0);
  }

 private:
  const double lines_;
  const std::chrono::nanoseconds interval_;
  Mutex mutex_;
  double tokens_ GUARDED_BY(mutex_);
  Instant last_ GUARDED_BY(mutex_){};
  uint64_t held_back_ GUARDED_BY(mutex_) = 0;
};

}  // namespace seen
