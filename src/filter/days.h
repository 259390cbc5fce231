#pragma once
// Items by the day that they count for, for kinds of filters that also know days.

#include <cstdint>
#include <span>

#include "model/day.h"
#include "model/hashes.h"

namespace seen {

/// Points to the fingerprints, which are unique and ascending.
struct DayOfItems {
  Day day;
  uint32_t first_second = 0, last_second = 0;  // since 1970; none of its items is earlier or later
  std::span<const Fingerprint> fingerprints;
};

}  // namespace seen
