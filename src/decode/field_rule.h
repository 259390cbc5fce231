#pragma once
// Where the value of a field stands in an event, and how producers write a point in time.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/clock.h"

namespace seen {

/// The place of a value in an event. Source: RFC 6901.
struct JsonPointer {
  static constexpr size_t kBytesMax = 256;
  static constexpr size_t kStepsMax = 16;

  std::string text;                // "/data/a~1b/0"
  std::vector<std::string> steps;  // "data", "a/b", "0": names, or indexes of arrays
  friend bool operator==(const JsonPointer&, const JsonPointer&) = default;
};

/// Unlike in the RFC, a pointer is never empty: the whole event isn't a field. The error completes a sentence
/// about `text`: "must begin with \"/\", such as \"/data/uid\"".
tl::expected<JsonPointer, std::string> ParseJsonPointer(std::string_view text);

/// The index that `step` means, as the RFC writes it ("0", "17"; not "007", not "-"); SIZE_MAX: it isn't an
/// index.
size_t ArrayIndexOf(std::string_view step);

// How producers write a point in time.

enum class TimeUnit : uint8_t { kMilliseconds, kSeconds, kMicroseconds, kRfc3339 };

/// "ms", "s", "us", "rfc3339".
std::string_view TimeUnitName(TimeUnit unit);
std::optional<TimeUnit> ParseTimeUnit(std::string_view name);

/// The range of a time in `unit`, for messages: "seconds since 1970 in 0..4294967295".
std::string_view TimeUnitRange(TimeUnit unit);

/// `count` units since 1970; microseconds are cut to milliseconds. nullopt: before 1970 or after 2106 (see
/// event_limits.h), or a unit without counts (kRfc3339).
std::optional<TimeMs> TimeOf(int64_t count, TimeUnit unit);

/// A count with a fraction. Seconds are taken to the nearest millisecond; other units are cut to
/// milliseconds. nullopt as for a whole count.
std::optional<TimeMs> TimeOfFraction(double count, TimeUnit unit);

/// "2025-11-21T04:40:00.123+08:00"; digits beyond milliseconds are cut. nullopt: another notation, no such
/// day, no zone, or out of range. Source: RFC 3339, section 5.6, and what else programs write of ISO 8601: a
/// space instead of the T, a comma before the fraction, no seconds, "+08", "+0800", " UTC", and a zone's name
/// in brackets after the offset.
std::optional<TimeMs> ParseTimestamp(std::string_view text);

/// A decimal integer, as producers write it in a string. nullopt: it isn't one, or it is beyond 64 bits.
std::optional<int64_t> ParseInteger(std::string_view text);

/// A decimal number with a fraction or an exponent in a string, as JSON writes it. nullopt: it isn't one, or
/// it is an integer, or no double holds it.
std::optional<double> ParseFraction(std::string_view text);

}  // namespace seen
