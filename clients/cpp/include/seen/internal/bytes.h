#pragma once
// Little-endian numbers and strings of bits out of bytes, on any machine, at any alignment.

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace seen::client::internal {

inline std::uint64_t ByteAt(const char* p, std::size_t i) { return static_cast<unsigned char>(p[i]); }

// Written out so that compilers make one load of it.
inline std::uint16_t LoadU16(const char* p) {
  return static_cast<std::uint16_t>(ByteAt(p, 0) | ByteAt(p, 1) << 8);
}
inline std::uint32_t LoadU32(const char* p) {
  return static_cast<std::uint32_t>(ByteAt(p, 0) | ByteAt(p, 1) << 8 | ByteAt(p, 2) << 16 |
                                    ByteAt(p, 3) << 24);
}
inline std::uint64_t LoadU64(const char* p) {
  return ByteAt(p, 0) | ByteAt(p, 1) << 8 | ByteAt(p, 2) << 16 | ByteAt(p, 3) << 24 | ByteAt(p, 4) << 32 |
         ByteAt(p, 5) << 40 | ByteAt(p, 6) << 48 | ByteAt(p, 7) << 56;
}

/// The `width` bits, 1 to 57, from bit `at` on, least significant bit of each byte first. All of them must be
/// inside.
inline std::uint64_t BitsAt(std::string_view bytes, std::uint64_t at, unsigned width) {
  const auto first = static_cast<std::size_t>(at / 8);
  std::uint64_t window = 0;
  if (bytes.size() - first >= 8) {
    window = LoadU64(bytes.data() + first);
  } else {
    for (std::size_t i = first; i < bytes.size(); ++i) window |= ByteAt(bytes.data(), i) << (8 * (i - first));
  }
  return window >> (at % 8) & ((std::uint64_t{1} << width) - 1);
}

constexpr std::uint64_t BytesForBits(std::uint64_t bits) { return (bits + 7) / 8; }

/// `word` must not be 0.
inline unsigned LowestBit(std::uint64_t word) {
#if defined(__GNUC__)
  return static_cast<unsigned>(__builtin_ctzll(word));
#else
  unsigned bit = 0;
  for (; (word & 1) == 0; word >>= 1) ++bit;
  return bit;
#endif
}

inline unsigned CountOnes(std::uint64_t word) {
#if defined(__GNUC__)
  return static_cast<unsigned>(__builtin_popcountll(word));
#else
  unsigned ones = 0;
  for (; word != 0; word &= word - 1) ++ones;
  return ones;
#endif
}

}  // namespace seen::client::internal
