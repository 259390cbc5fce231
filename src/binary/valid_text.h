#pragma once
// Whether bytes are UTF-8. Room binary only.

#include <simdjson.h>

#include <cstdint>
#include <cstring>
#include <string_view>

namespace seen {

/// Most texts are short and ASCII: they don't need simdjson's way.
inline bool IsValidText(std::string_view text) {
  constexpr uint64_t kHighBits = 0x8080808080808080;
  uint64_t bits = 0, eight = 0;
  if (text.size() >= sizeof eight) {
    const size_t last = text.size() - sizeof eight;
    for (size_t at = 0; at < last; at += sizeof eight) {
      std::memcpy(&eight, text.data() + at, sizeof eight);
      bits |= eight;
    }
    std::memcpy(&eight, text.data() + last, sizeof eight);
    bits |= eight;
  } else {
    for (const char c : text) bits |= static_cast<unsigned char>(c);
  }
  return (bits & kHighBits) == 0 || simdjson::validate_utf8(text.data(), text.size());
}

}  // namespace seen
