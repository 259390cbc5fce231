#include "tools/load/random.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace seen {
namespace {

// log1p(x)/x and expm1(x)/x, numerically stable near 0. So a skew of exactly 1 needs no special case.
double LogRatio(double x) { return std::abs(x) > 1e-8 ? std::log1p(x) / x : 1 - x / 2; }
double ExpRatio(double x) { return std::abs(x) > 1e-8 ? std::expm1(x) / x : 1 + x / 2; }

constexpr double kNearError = 1e-9;

}  // namespace

ZipfDistribution::ZipfDistribution(uint64_t count, double skew)
    : count_(static_cast<double>(std::max<uint64_t>(count, 1))), skew_(skew) {
  near_exponent_ = std::abs(1 - skew) < 0.01 ? std::numeric_limits<double>::quiet_NaN() : 1 / (1 - skew);
  integral_at_first_ = Integral(1.5) - 1;
  integral_at_last_ = Integral(count_ + 0.5);
  accept_within_ = 2 - IntegralInverse(Integral(2.5) - Density(2));
}

double ZipfDistribution::Integral(double x) const {
  const double log_x = std::log(x);
  return ExpRatio((1 - skew_) * log_x) * log_x;
}

double ZipfDistribution::IntegralInverse(double y) const {
  const double t = std::max(y * (1 - skew_), -1.0);
  return std::exp(LogRatio(t) * y);
}

double ZipfDistribution::Density(double x) const { return std::exp(-skew_ * std::log(x)); }

// IntegralInverse in a third of its time, with a relative error up to kNearError. NaN if it would be larger.
double ZipfDistribution::NearIntegralInverse(double y) const {
  const double power = 1 + y * (1 - skew_);
  if (power < 1e-3) return std::numeric_limits<double>::quiet_NaN();
  return std::exp(std::log(power) * near_exponent_);
}

uint64_t ZipfDistribution::operator()(Random& random) const {
  while (true) {  // accepts more than 3 draws of 4
    const double u = integral_at_last_ + random.Unit() * (integral_at_first_ - integral_at_last_);
    // Uses the near value only where the exact value gives the same rank: ranks depend on the seed alone.
    const double near = NearIntegralInverse(u);
    const double error = near * kNearError;
    const double near_rank = std::floor(near + 0.5 - error);
    if (near_rank >= 1 && near_rank <= count_ && near_rank == std::floor(near + 0.5 + error) &&
        near_rank - near <= accept_within_ - error) {
      return static_cast<uint64_t>(near_rank);
    }
    const double x = IntegralInverse(u);
    const double rank = std::clamp(std::floor(x + 0.5), 1.0, count_);
    if (rank - x <= accept_within_ || u >= Integral(rank + 0.5) - Density(rank))
      return static_cast<uint64_t>(rank);
  }
}

}  // namespace seen
