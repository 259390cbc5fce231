#pragma once
// What decides which items are alike, and how far the index goes back.

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "model/day.h"

namespace seen {

struct GroupOptions {
  bool by_simhash = true;
  bool by_minhash = true;
  bool verify = true;
  int distance_max = 3;
  double similarity_min = 0.8;
  int32_t window_days = 30;
  uint32_t list_max = 256;        // entries looked at of one list of candidates: the newest; at most kListMax
  uint32_t candidates_max = 128;  // verified for one item
  TimeMs stored_time_max{INT64_MAX};  // Open corrects a stored index time beyond it: StoredTimeMax
};

/// A stored time beyond it was never true. A day at least, for a clock that is slow by minutes must correct
/// nothing, and a time that is hours ahead does no harm.
inline TimeMs StoredTimeMax(TimeMs wall_now, std::chrono::milliseconds future_skew_max) {
  return {wall_now.value + std::max(future_skew_max.count(), kMsPerDay)};
}

}  // namespace seen
