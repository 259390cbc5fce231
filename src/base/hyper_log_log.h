#pragma once
// The number of distinct values of a stream, estimated in constant memory. Source: Flajolet et al.,
// "HyperLogLog: the analysis of a near-optimal cardinality estimation algorithm", 2007, figure 3, with linear
// counting for small numbers. Hashes have 64 bits, so large numbers need no correction.

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>

namespace seen {

/// 2^kPlaceBits bytes, with a standard error of 1.04 / sqrt(2^kPlaceBits). Not thread-safe.
template <int kPlaceBits>
class HyperLogLog {
 public:
  /// `hash`: 64 evenly distributed bits of the value.
  void Add(uint64_t hash) {
    const size_t place = hash >> (64 - kPlaceBits);
    const auto rank = static_cast<uint8_t>(std::countl_zero(hash << kPlaceBits | 1) + 1);
    ranks_[place] = std::max(ranks_[place], rank);
  }
  double Estimate() const {
    double sum = 0;
    uint32_t empty = 0;
    for (const uint8_t rank : ranks_) {
      sum += std::ldexp(1.0, -rank);
      empty += rank == 0 ? 1 : 0;
    }
    constexpr double kPlaces = 1u << kPlaceBits;
    const double estimate = 0.7213 / (1 + 1.079 / kPlaces) * kPlaces * kPlaces / sum;
    return estimate <= 2.5 * kPlaces && empty > 0 ? kPlaces * std::log(kPlaces / empty) : estimate;
  }

 private:
  std::array<uint8_t, 1u << kPlaceBits> ranks_{};
};

}  // namespace seen
