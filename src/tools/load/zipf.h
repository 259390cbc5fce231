#pragma once
// Skewed ranks, such as user activity and item popularity.

#include <cstdint>

#include "tools/load/random.h"

namespace seen {

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
