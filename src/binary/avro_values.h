#pragma once
// What both ways of reading make of a value. Room binary only.

#include <cstdint>
#include <string_view>

#include "binary/avro_schema.h"

namespace seen {

/// Rounded down, also if `value` is negative.
inline int64_t FloorDivided(int64_t value, int64_t by) { return value / by - (value % by < 0 ? 1 : 0); }

/// A day or a point in time, in ms since 1970. Micro- and nanoseconds are rounded down.
inline int64_t MillisecondsOf(AvroLogical logical, int64_t value) {
  switch (logical) {
    case AvroLogical::kDate:
      return value * 86'400'000;
    case AvroLogical::kTimestampMicros:
    case AvroLogical::kLocalTimestampMicros:
      return FloorDivided(value, 1000);
    case AvroLogical::kTimestampNanos:
    case AvroLogical::kLocalTimestampNanos:
      return FloorDivided(value, 1'000'000);
    default:
      return value;
  }
}

inline constexpr size_t kUuidText = 36;

/// Writes the canonical text of a UUID of 16 bytes: 36 characters. Source: RFC 4122, section 3.
inline void WriteUuid(std::string_view bytes, char* text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (size_t i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) *text++ = '-';
    const auto byte = static_cast<unsigned char>(bytes[i]);
    *text++ = kHex[byte >> 4];
    *text++ = kHex[byte & 15];
  }
}

}  // namespace seen
