#pragma once
// Times and days as snapshots have them, as std::chrono types.

#include <chrono>
#include <cstdint>
#include <ratio>

namespace seen::client {

/// Milliseconds since 1970: C++20's std::chrono::sys_time<std::chrono::milliseconds>. Comes from outside and
/// may be any 64-bit number, so convert it to std::chrono::system_clock::time_point (nanoseconds) only once
/// it is plausible.
using TimeMs =
    std::chrono::time_point<std::chrono::system_clock, std::chrono::duration<std::int64_t, std::milli>>;
using Days = std::chrono::duration<std::int32_t, std::ratio<86400>>;
/// A UTC day, as days since 1970.
using Day = std::chrono::time_point<std::chrono::system_clock, Days>;

inline TimeMs NowMs() {
  return std::chrono::time_point_cast<TimeMs::duration>(std::chrono::system_clock::now());
}

/// Which days a day chain (kind 10) may leave out when it is asked; it then answers more exactly. Other kinds
/// hold all days as one and aren't changed by it.
struct DayLimits {
  /// When the item could first be shown, or an earlier time: nobody has seen it on days that ended before. A
  /// later time hides days it was shown on. 1970 or earlier: not known, no day is left out for it.
  TimeMs created_at{};
  /// The first day of the window now, where the snapshot is of an earlier day: days before it are left out.
  Day window_start{Days::min()};
};

}  // namespace seen::client
