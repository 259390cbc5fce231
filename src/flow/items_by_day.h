#pragma once
// A user's items by the days they count for.

#include <span>
#include <vector>

#include "filter/days.h"
#include "model/answer_limits.h"

namespace seen {

enum class DayBy : uint8_t {
  kWindow,  // CountedEnd::day: for who drops days past the window
  kTime,    // that of CountedEnd::second: for who is told when
};

/// Keeps its memory: one a thread.
class ItemsByDay {
 public:
  /// Newest day first, within a day by fingerprint. `ends`: of unique fingerprints, in any order. Valid until
  /// the next call.
  std::span<const DayOfItems> Group(std::span<const CountedEnd> ends, DayBy by);

 private:
  std::vector<Fingerprint> fingerprints_;
  std::vector<DayOfItems> days_;
};

}  // namespace seen
