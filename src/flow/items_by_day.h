#pragma once
// A user's items by the days they count for.

#include <span>
#include <vector>

#include "filter/days.h"
#include "model/answer_limits.h"

namespace seen {

/// Keeps its memory: one a thread.
class ItemsByDay {
 public:
  /// Newest day first, within a day by fingerprint. `ends`: by fingerprint, unique. An item's day is that of
  /// its end, plus `days_later`. Valid until the next call.
  std::span<const DayOfItems> Group(std::span<const CountedEnd> ends, int32_t days_later);

 private:
  struct Dated {
    int32_t day = 0;
    uint32_t second = 0;
    Fingerprint fingerprint;
  };
  std::vector<Dated> dated_;
  std::vector<Fingerprint> fingerprints_;
  std::vector<DayOfItems> days_;
};

}  // namespace seen
