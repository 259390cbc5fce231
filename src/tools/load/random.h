#pragma once
// Random numbers that are the same on all machines; skewed ranks, such as user activity and item popularity.

#include <cstdint>

namespace seen {

/// SplitMix64: small, fast, the same on all machines. Source: Steele, Lea and Flood, OOPSLA 2014.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t Next() {
    uint64_t z = state_ += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  /// 0 to bound - 1. The bias of up to bound / 2^32 doesn't matter here.
  uint32_t Below(uint32_t bound) { return static_cast<uint32_t>((Next() >> 32) * bound >> 32); }
  /// [0, 1)
  double Unit() { return static_cast<double>(Next() >> 11) * 0x1p-53; }

 private:
  uint64_t state_;
};

/// Draws ranks 1 to `count` with probability proportional to rank^-skew in constant time and memory.
/// Source: Hörmann and Derflinger, "Rejection-inversion to generate variates from monotone discrete
/// distributions", ACM TOMACS 6(3), 1996.
class ZipfDistribution {
 public:
  /// `count` at least 1; `skew` greater than 0.
  ZipfDistribution(uint64_t count, double skew);
  uint64_t operator()(Random& random) const;

 private:
  double Integral(double x) const;  // integral of the density, up to a constant
  double IntegralInverse(double y) const;
  double NearIntegralInverse(double y) const;
  double Density(double x) const;

  double count_;
  double skew_;
  double near_exponent_;  // NaN: too close to a skew of 1
  double integral_at_first_;
  double integral_at_last_;
  double accept_within_;
};

}  // namespace seen
