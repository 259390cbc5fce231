#pragma once
// Sorts the keys that a filter is built from.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "filter/bits.h"
#include "model/hashes.h"

namespace seen {

/// Sorts ascending by `key_of(value)`, a u32 of which only the lowest `bits` are set. Radix sort from the
/// least significant digit on, linear. Needs as much memory again.
template <typename Value, typename KeyOf>
void SortByKey(std::vector<Value>& values, uint32_t bits, KeyOf key_of) {
  if (values.size() < 128) {
    return std::sort(values.begin(), values.end(),
                     [&](const Value& a, const Value& b) { return key_of(a) < key_of(b); });
  }
  constexpr uint32_t kDigitMax = 11;
  const uint32_t passes = std::max((bits + kDigitMax - 1) / kDigitMax, 1U);
  const uint32_t digit = (bits + passes - 1) / passes;
  std::vector<Value> sorted(values.size());
  std::array<uint32_t, 1U << kDigitMax> places;
  for (uint32_t shift = 0; shift < bits; shift += digit) {
    const uint32_t mask = LowBits(digit);
    places.fill(0);
    for (const Value& value : values) ++places[key_of(value) >> shift & mask];
    uint32_t before = 0;
    for (uint32_t& place : places) {
      const uint32_t count = place;
      place = before;
      before += count;
    }
    for (const Value& value : values) sorted[places[key_of(value) >> shift & mask]++] = value;
    values.swap(sorted);
  }
}

/// The same for keys themselves.
inline void SortKeys(std::vector<uint32_t>& keys, uint32_t bits) {
  SortByKey(keys, bits, [](uint32_t key) { return key; });
}

/// As std::sort.
inline void SortKeys(std::vector<uint64_t>& keys, uint32_t /*bits*/) { std::sort(keys.begin(), keys.end()); }

// Fingerprints in ascending order, for kinds whose bytes must not depend on the order of the input.

/// Returns `fingerprints` if they are in order, else a sorted copy in `copy`, which must outlive the result.
/// O(n): about 8 ns an item, 1 ns if they are in order. Any thread.
inline std::span<const Fingerprint> Sorted(std::span<const Fingerprint> fingerprints,
                                           std::vector<Fingerprint>& copy) {
  if (std::is_sorted(fingerprints.begin(), fingerprints.end())) return fingerprints;
  copy.assign(fingerprints.begin(), fingerprints.end());
  SortByKey(copy, 32, [](Fingerprint fingerprint) { return fingerprint.value; });
  return copy;
}

}  // namespace seen
