#include "filter/sorted.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace seen {
namespace {

constexpr size_t kFewEnough = 256;  // below it std::sort is faster

// Least significant digit first: three passes of 11 bits.
void RadixSort(std::vector<Fingerprint>& values) {
  constexpr uint32_t kDigitBits = 11, kDigits = 1u << kDigitBits, kPasses = 3;
  std::vector<std::array<uint32_t, kDigits>> starts(kPasses);
  const auto digit = [](Fingerprint value, uint32_t pass) {
    return (value.value >> (pass * kDigitBits)) & (kDigits - 1);
  };
  for (const Fingerprint value : values) {
    for (uint32_t pass = 0; pass < kPasses; ++pass) ++starts[pass][digit(value, pass)];
  }
  for (auto& counts : starts) {
    uint32_t sum = 0;
    for (uint32_t& count : counts) {
      const uint32_t start = sum;
      sum += count;
      count = start;
    }
  }
  std::vector<Fingerprint> other(values.size());
  for (uint32_t pass = 0; pass < kPasses; ++pass) {
    for (const Fingerprint value : values) other[starts[pass][digit(value, pass)]++] = value;
    values.swap(other);
  }
}

}  // namespace

std::span<const Fingerprint> Sorted(std::span<const Fingerprint> fingerprints,
                                    std::vector<Fingerprint>& copy) {
  if (std::is_sorted(fingerprints.begin(), fingerprints.end())) return fingerprints;
  copy.assign(fingerprints.begin(), fingerprints.end());
  if (copy.size() < kFewEnough) {
    std::sort(copy.begin(), copy.end());
  } else {
    RadixSort(copy);
  }
  return copy;
}

}  // namespace seen
