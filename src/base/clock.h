#pragma once
// Time as a port, so that the core runs on a virtual clock.

#include <chrono>
#include <cstdint>
#include <string>

namespace seen {

/// Milliseconds since the Unix epoch, UTC. Kafka's own unit.
struct TimeMs {
  int64_t value = 0;
  friend auto operator<=>(const TimeMs&, const TimeMs&) = default;
};

/// "2026-11-21T10:04:00.123Z"
std::string TimeText(TimeMs time);

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
  TimeMs WallNow() const override;
  Instant Now() const override;
};

}  // namespace seen
