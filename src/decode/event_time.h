#pragma once
// How producers write a point in time.

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"

namespace seen {

enum class TimeUnit : uint8_t { kMilliseconds, kSeconds, kMicroseconds, kRfc3339 };

/// "ms", "s", "us", "rfc3339".
std::string_view TimeUnitName(TimeUnit unit);
std::optional<TimeUnit> ParseTimeUnit(std::string_view name);

/// What a time in `unit` must be, for messages: "seconds since 1970 in 0..4294967295".
std::string_view TimeUnitRange(TimeUnit unit);

/// `count` units since 1970; microseconds are cut to milliseconds. nullopt: before 1970 or after 2106 (see
/// event_limits.h), or a unit that isn't counted.
std::optional<TimeMs> TimeOf(int64_t count, TimeUnit unit);

/// Seconds since 1970 with a fraction, to the nearest millisecond.
std::optional<TimeMs> TimeOfSeconds(double seconds);

/// "2025-11-21T04:40:00.123+08:00"; digits beyond milliseconds are cut. nullopt: not so written, no such day,
/// out of range. Source: RFC 3339, section 5.6; a space for the T is taken as well.
std::optional<TimeMs> ParseRfc3339(std::string_view text);

/// A whole number in decimal, as producers write one into a string. nullopt: not that, or beyond 64 bits.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace seen
