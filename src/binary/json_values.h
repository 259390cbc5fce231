#pragma once
// Values of other formats as JSON. Room binary only.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>

#include "base/text.h"
#include "decode/json_text.h"

namespace seen {

/// A few bytes may say that a list has 2^62 elements without bytes, and names aren't in the payload. So the
/// JSON of an event may have so many bytes.
constexpr size_t JsonBytesMax(size_t payload_bytes) {
  return std::min(64 * payload_bytes + (size_t{64} << 10), 4 * payload_bytes + (size_t{4} << 20));
}

/// A fraction is written with the fewest digits that are read as the same number, and never as an integer.
/// It is finite.
template <typename Number>
void AppendJsonNumber(Number number, std::string& json) {
  std::array<char, 32> text;
  const auto written = std::to_chars(text.data(), text.data() + text.size(), number);
  const std::string_view digits(text.data(), static_cast<size_t>(written.ptr - text.data()));
  json += digits;
  if (std::is_floating_point_v<Number> && digits.find_first_of(".e") == std::string_view::npos) json += ".0";
}

/// A string, or hex digits if the bytes aren't UTF-8.
inline void AppendJsonBytes(std::string_view bytes, std::string& json) {
  if (IsUtf8(bytes)) return AppendJsonString(bytes, json);
  constexpr std::string_view kHex = "0123456789abcdef";
  json += '"';
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    json.append({kHex[byte >> 4], kHex[byte & 15]});
  }
  json += '"';
}

}  // namespace seen
