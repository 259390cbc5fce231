#pragma once
// The number of distinct values of a stream, in bounded memory: exact up to 100,000, then within about 1%.
// Source: Flajolet et al., HyperLogLog, 2007, figure 3, with linear counting for small counts.

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <unordered_set>

namespace seen {

/// One thread.
class DistinctCount {
 public:
  /// `hash`: 64 evenly distributed bits of the value.
  void Add(uint64_t hash) {
    const size_t place = hash >> (64 - kPlaceBits);
    const auto rank = static_cast<uint8_t>(std::countl_zero(hash << kPlaceBits | 1) + 1);
    ranks_[place] = std::max(ranks_[place], rank);
    if (is_exact_) {
      exact_.insert(hash);
      is_exact_ = exact_.size() <= kExactMax;
      if (!is_exact_) exact_ = {};
    }
  }
  bool is_exact() const { return is_exact_; }
  uint64_t count() const {
    if (is_exact_) return exact_.size();
    double sum = 0;
    uint32_t empty = 0;
    for (const uint8_t rank : ranks_) {
      sum += std::ldexp(1.0, -rank);
      empty += rank == 0 ? 1 : 0;
    }
    constexpr double kPlaces = 1u << kPlaceBits;
    const double estimate = 0.7213 / (1 + 1.079 / kPlaces) * kPlaces * kPlaces / sum;
    if (estimate <= 2.5 * kPlaces && empty > 0)
      return static_cast<uint64_t>(kPlaces * std::log(kPlaces / empty));
    return static_cast<uint64_t>(estimate);
  }

 private:
  static constexpr int kPlaceBits = 14;
  static constexpr size_t kExactMax = 100'000;
  std::array<uint8_t, 1u << kPlaceBits> ranks_{};
  std::unordered_set<uint64_t> exact_;
  bool is_exact_ = true;
};

}  // namespace seen
