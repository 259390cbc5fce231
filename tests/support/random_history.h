#pragma once
// Random histories of one user, small enough that every rule bites: few items, few days, many collisions.

#include <cstdint>
#include <random>
#include <vector>

#include "model/change.h"

namespace seen::test {

struct HistoryShape {
  uint32_t items = 12;
  uint32_t days = 5;
  uint32_t first_day = 20'000;
  uint32_t removed_percent = 15;
  uint32_t erased_percent = 3;
};

inline Change RandomChange(std::mt19937_64& random, const HistoryShape& shape) {
  const auto below = [&](uint32_t bound) { return static_cast<uint32_t>(random() % bound); };
  Change change;
  // Spread over the 32 bits, so that Rice gaps are of every size.
  change.fingerprint = {below(shape.items) * 0x9e3779b1u};
  change.second = (shape.first_day + below(shape.days)) * static_cast<uint32_t>(kSecondsPerDay) +
                  below(static_cast<uint32_t>(kSecondsPerDay));
  const uint32_t dice = below(100);
  if (dice < shape.erased_percent) {
    change.kind = ChangeKind::kErased;
  } else if (dice < shape.erased_percent + shape.removed_percent) {
    change.kind = ChangeKind::kRemoved;
  }
  return change;
}

inline std::vector<Change> RandomHistory(std::mt19937_64& random, size_t length, const HistoryShape& shape) {
  std::vector<Change> history;
  for (size_t i = 0; i < length; ++i) history.push_back(RandomChange(random, shape));
  return history;
}

}  // namespace seen::test
