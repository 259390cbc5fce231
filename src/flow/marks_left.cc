#include "flow/marks_left.h"

#include <algorithm>
#include <cmath>

namespace seen {

// A user key is a hash, so its bits are as good as random. Scans go by `high`, so `low` is even on both sides
// of a scan's place.
void MarksLeft::Part::Add(const UserRef& ref) {
  ++added;
  users.Add(ref.user.low + ref.filter.number() * 0x9e3779b97f4a7c15u);
}

uint64_t MarksLeft::Part::UpperBound() const {
  constexpr double kSlack = 1.15;  // more than four standard errors
  return std::min(added, static_cast<uint64_t>(std::ceil(users.Estimate() * kSlack)));
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
