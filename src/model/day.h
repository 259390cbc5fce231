#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <limits>
#include <string>

#include "base/clock.h"

namespace seen {

inline constexpr int64_t kSecondsPerDay = 86'400;
inline constexpr int64_t kMsPerDay = kSecondsPerDay * 1000;

/// A UTC day, counted from 1970-01-01.
struct Day {
  int32_t since_epoch = 0;
  friend auto operator<=>(const Day&, const Day&) = default;
  friend Day operator+(Day day, int32_t days) { return {day.since_epoch + days}; }
  friend Day operator-(Day day, int32_t days) { return {day.since_epoch - days}; }
};

inline Day DayOf(TimeMs time) {
  const int64_t floor = time.value >= 0 ? time.value / kMsPerDay : (time.value - kMsPerDay + 1) / kMsPerDay;
  return {static_cast<int32_t>(floor)};
}
inline TimeMs StartOf(Day day) { return {day.since_epoch * kMsPerDay}; }

/// "2026-11-21"
inline std::string DayText(Day day) { return TimeText(StartOf(day)).substr(0, 10); }

/// The second since 1970, within 32 bits.
inline uint32_t SecondOf(TimeMs time) {
  return static_cast<uint32_t>(
      std::clamp<int64_t>(time.value / 1000, 0, std::numeric_limits<uint32_t>::max()));
}

}  // namespace seen
