#include "flow/marks_left.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace seen {

// A user key is a hash, so its bits are as good as random. The bits above the register's number have the
// rank: the place of the first one. The order of the scan is that of `high`, so `low` knows nothing of it.
void DistinctUsers::Add(const UserRef& ref) {
  const uint64_t hash = ref.user.low + ref.filter.number() * 0x9e3779b97f4a7c15u;
  const auto rank = static_cast<uint8_t>(std::countr_zero(hash / kRegisters | uint64_t{1} << 54) + 1);
  uint8_t& highest = ranks_[hash % kRegisters];
  highest = std::max(highest, rank);
}

double DistinctUsers::Estimate() const {
  constexpr double kCount = kRegisters;
  constexpr double kAlpha = 0.7213 / (1 + 1.079 / kCount);
  double sum = 0;
  for (const uint8_t rank : ranks_) sum += std::ldexp(1.0, -rank);
  const double estimate = kAlpha * kCount * kCount / sum;
  const auto unused = std::count(ranks_.begin(), ranks_.end(), 0);
  if (estimate > 2.5 * kCount || unused == 0) return estimate;
  return kCount * std::log(kCount / static_cast<double>(unused));
}

void MarksLeft::Part::Add(const UserRef& ref) {
  ++added;
  users.Add(ref);
}

uint64_t MarksLeft::Part::UpperBound() const {
  constexpr double kErrors = 1.15;
  return std::min(added, static_cast<uint64_t>(std::ceil(users.Estimate() * kErrors)));
}

void MarksLeft::ScanEnded() {
  ahead_ = behind_;
  behind_ = {};
  scanned_ = 0;
}

uint64_t MarksLeft::UpperBound() const {
  const uint64_t ahead = ahead_.UpperBound();
  return ahead - std::min(ahead, scanned_) + behind_.UpperBound();
}

}  // namespace seen
