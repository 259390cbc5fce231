#pragma once
// Time as a port, so that the core runs on a virtual clock.

#include <time.h>

#include <chrono>
#include <cstdint>

namespace seen {

/// Milliseconds since the Unix epoch, UTC. Kafka's own unit.
struct TimeMs {
  int64_t value = 0;
  friend auto operator<=>(const TimeMs&, const TimeMs&) = default;
};

/// A monotonic instant. Only the difference of two instants of the same clock means anything. SystemClock and
/// steady_clock are two clocks: steady_clock stands still while the machine is suspended.
using Instant = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Thread-safe.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual TimeMs WallNow() const = 0;
  virtual Instant Now() const = 0;
};

class SystemClock final : public Clock {
 public:
  TimeMs WallNow() const override {
    using namespace std::chrono;
    return {duration_cast<milliseconds>(system_clock::now().time_since_epoch()).count()};
  }
  Instant Now() const override {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return Instant(std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec));
  }
};

}  // namespace seen
