#pragma once
// Integers in groups of seven bits, the lowest first, as Avro and Protobuf write them. Room binary only.

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace seen {

/// `behind`: the place behind the integer; nullptr: it is cut off or has more than ten bytes. In two
/// registers.
struct TakenVarint {
  const char* behind;
  uint64_t value;
};

/// As TakeVarint, of two bytes and more. Not in line: most integers have one byte.
template <bool strict>
[[gnu::noinline]] TakenVarint TakeLongVarint(const char* at, const char* end) {
  if (end - at >= 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, at, sizeof bytes);  // little-endian
    const uint64_t last = ~bytes & 0x8080808080808080;
    if (last != 0) [[likely]] {
      bytes &= last ^ (last - 1);  // without what follows the first byte that has no high bit
      bytes = (bytes & 0x007f007f007f007f) | (bytes & 0x7f007f007f007f00) >> 1;
      bytes = (bytes & 0x00003fff00003fff) | (bytes & 0x3fff00003fff0000) >> 2;
      bytes = (bytes & 0x000000000fffffff) | (bytes & 0x0fffffff00000000) >> 4;
      return {at + (std::countr_zero(last) + 1) / 8, bytes};
    }
  }
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 70 && at != end; shift += 7) {
    const auto byte = static_cast<uint8_t>(*at++);
    if (strict && shift == 63 && byte > 1) break;
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return {at, value};
  }
  return {nullptr, 0};
}

/// Takes an integer from the front of [at, end). `strict`: the tenth byte has one bit; else its other bits
/// are lost.
template <bool strict>
inline TakenVarint TakeVarint(const char* at, const char* end) {
  if (at == end || static_cast<uint8_t>(*at) >= 0x80) [[unlikely]]
    return TakeLongVarint<strict>(at, end);
  return {at + 1, static_cast<uint8_t>(*at)};
}

}  // namespace seen
