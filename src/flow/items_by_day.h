#pragma once
// A user's items by the days they count for.

#include <span>
#include <vector>

#include "filter/days.h"
#include "model/answer_limits.h"

namespace seen {

enum class DayBy : uint8_t {
  kWindow,  // CountedEnd::day: for readers that drop days past the window
  kTime,    // the day of CountedEnd::second: for readers that ask when an item was seen
};

/// Keeps its memory: one per thread.
class ItemsByDay {
 public:
  /// Returns the newest day first, and each day's fingerprints in order. `ends`: of unique fingerprints, in
  /// any order. The result is valid until the next call.
  std::span<const DayOfItems> Group(std::span<const CountedEnd> ends, DayBy by);

 private:
  std::vector<Fingerprint> fingerprints_;
  std::vector<DayOfItems> days_;
};

}  // namespace seen
