#pragma once
// Sorts the keys that a filter is built from.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter/bits.h"

namespace seen {

/// Ascending, by their lowest `bits`, the only ones set: from the least significant digit on, linear. Memory:
/// as much again.
inline void SortKeys(std::vector<uint32_t>& keys, uint32_t bits) {
  if (keys.size() < 128) return std::sort(keys.begin(), keys.end());
  constexpr uint32_t kDigitMax = 11;
  const uint32_t passes = std::max((bits + kDigitMax - 1) / kDigitMax, 1U);
  const uint32_t digit = (bits + passes - 1) / passes;
  std::vector<uint32_t> sorted(keys.size());
  std::array<uint32_t, 1U << kDigitMax> places;
  for (uint32_t shift = 0; shift < bits; shift += digit) {
    const uint32_t mask = LowBits(digit);
    places.fill(0);
    for (const uint32_t key : keys) ++places[key >> shift & mask];
    uint32_t before = 0;
    for (uint32_t& place : places) {
      const uint32_t count = place;
      place = before;
      before += count;
    }
    for (const uint32_t key : keys) sorted[places[key >> shift & mask]++] = key;
    keys.swap(sorted);
  }
}

/// As std::sort.
inline void SortKeys(std::vector<uint64_t>& keys, uint32_t /*bits*/) { std::sort(keys.begin(), keys.end()); }

}  // namespace seen
