#pragma once
// How long to wait before the next try: twice as long after each one, up to a limit.

#include <algorithm>
#include <chrono>
#include <utility>

namespace seen {

/// One thread. Pure.
class BackOff {
 public:
  constexpr BackOff(std::chrono::milliseconds first, std::chrono::milliseconds max)
      : first_(first), max_(max), next_(first) {}

  /// The wait before the next try. The one after it is twice as long.
  std::chrono::milliseconds Next() { return std::exchange(next_, std::min(2 * next_, max_)); }
  /// After a success.
  void Reset() { next_ = first_; }

 private:
  std::chrono::milliseconds first_;
  std::chrono::milliseconds max_;
  std::chrono::milliseconds next_;
};

}  // namespace seen
