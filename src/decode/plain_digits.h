#pragma once
// Converts digits to numbers, several at once. Room decode only.

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace seen {

// `digits`: eight digits, the first in the lowest byte. Adds up pairs, then fours, then all.
inline int64_t NumberOf(uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  constexpr uint64_t kEven = 0x0000'00ff'0000'00ff;
  const uint64_t high = (digits & kEven) * (100 + (uint64_t{1'000'000} << 32));
  const uint64_t low = ((digits >> 16) & kEven) * (1 + (uint64_t{10'000} << 32));
  return static_cast<int64_t>((high + low) >> 32);
}

/// `text`: digits, at most 18. One at a time, each digit would wait for the one before.
inline int64_t NumberOf(std::string_view text) {
  constexpr uint64_t kZeros = 0x3030'3030'3030'3030;
  constexpr std::array<int64_t, 9> kPowers = {1,       10,        100,        1'000,      10'000,
                                              100'000, 1'000'000, 10'000'000, 100'000'000};
  int64_t number = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (text.size() >= 8 && text.size() <= 16) {
      uint64_t first, last;
      std::memcpy(&first, text.data(), 8);
      std::memcpy(&last, text.data() + text.size() - 8, 8);
      // The two words overlap: the last one's digits that the first one has too become zeros.
      const size_t rest = text.size() - 8;
      last = rest == 0 ? 0 : (last - kZeros) >> (64 - 8 * rest) << (64 - 8 * rest);
      return NumberOf(first - kZeros) * kPowers[rest] + NumberOf(last);
    }
  }
  for (const char digit : text) number = number * 10 + (digit - '0');
  return number;
}

}  // namespace seen
