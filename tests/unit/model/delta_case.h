#pragma once
// Seeded deltas for the short paths: mostly of exposures alone, of few and of many items a day, with now and
// then what ends a short path: removals, erasures, a limit that bites, two ids.

#include <random>
#include <string>
#include <vector>

#include "model/change.h"
#include "support/random_history.h"

namespace seen {

inline std::string Encoded(const Delta& delta) {
  std::string bytes;
  EncodeDelta(delta, bytes);
  return bytes;
}

struct DeltaCase {
  std::mt19937_64 random;
  DeltaLimits limits;
  test::HistoryShape shape;

  explicit DeltaCase(int seed) : random(static_cast<uint64_t>(seed)) {
    limits.items_per_day_max = seed % 7 == 0 ? 5 : 1'000;
    shape.items = 1 + static_cast<uint32_t>(random() % 300);
    shape.removed_percent = seed % 4 == 0 ? 20 : 0;
    shape.erased_percent = seed % 6 == 0 ? 5 : 0;
  }
  std::vector<Change> History(size_t length) { return test::RandomHistory(random, length, shape); }
  std::string RandomId() { return random() % 5 == 0 ? "" : random() % 9 == 0 ? "v" : "u"; }
  Delta RandomDelta(size_t length_max) { return DeltaOf(RandomId(), History(random() % length_max), limits); }
  Day RandomHorizon() { return {static_cast<int32_t>(shape.first_day + random() % 8) - 1}; }
};

}  // namespace seen
