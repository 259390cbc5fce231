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

/// The range of a time in `unit`, for messages: "seconds since 1970 in 0..4294967295".
std::string_view TimeUnitRange(TimeUnit unit);

/// `count` units since 1970; microseconds are cut to milliseconds. nullopt: before 1970 or after 2106 (see
/// event_limits.h), or a unit without counts (kRfc3339).
std::optional<TimeMs> TimeOf(int64_t count, TimeUnit unit);

/// Seconds since 1970 with a fraction, to the nearest millisecond.
std::optional<TimeMs> TimeOfSeconds(double seconds);

/// "2025-11-21T04:40:00.123+08:00"; digits beyond milliseconds are cut. nullopt: another notation, no such
/// day, or out of range. Source: RFC 3339, section 5.6; a space instead of the T is accepted too.
std::optional<TimeMs> ParseRfc3339(std::string_view text);

/// A decimal integer, as producers write it in a string. nullopt: it isn't one, or it is beyond 64 bits.
std::optional<int64_t> ParseInteger(std::string_view text);

}  // namespace seen
