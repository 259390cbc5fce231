#pragma once
// Time as a port, so that the core runs on a virtual clock.

#include <chrono>
#include <cstdint>

namespace seen {

/// Milliseconds since the Unix epoch, UTC. Kafka's own unit.
struct TimeMs {
  int64_t value = 0;
  friend auto operator<=>(const TimeMs&, const TimeMs&) = default;
};

/// A monotonic instant; only differences mean anything.
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
  Instant Now() const override { return std::chrono::steady_clock::now(); }
};

}  // namespace seen
