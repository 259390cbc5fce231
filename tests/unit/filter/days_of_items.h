#pragma once
// Items spread over days, for the kinds that know days.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "filter/snapshot_format.h"
#include "unit/filter/kind_checks.h"
#include "unit/filter/reference_bloom.h"

namespace seen::kind_checks {

inline constexpr uint32_t kSecondsADay = 86'400;
inline constexpr int32_t kNewest = 20'000;

// `counts[i]` items on the i-th day, the newest first.
struct Days {
  std::vector<std::vector<Fingerprint>> fingerprints;
  std::vector<DayOfItems> days;
  std::vector<Fingerprint> all;  // ascending

  explicit Days(const std::vector<size_t>& counts, uint64_t seed = 1) {
    size_t count = 0;
    for (const size_t c : counts) count += c;
    all = reference::RandomFingerprints(count, seed);
    auto left = Shuffled(all, seed);
    for (const size_t c : counts) {
      fingerprints.emplace_back(left.end() - static_cast<ptrdiff_t>(c), left.end());
      left.resize(left.size() - c);
      std::sort(fingerprints.back().begin(), fingerprints.back().end());
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      const int32_t day = kNewest - 2 * static_cast<int32_t>(i);
      const uint32_t first = static_cast<uint32_t>(day) * kSecondsADay + 100;
      days.push_back({{day}, first, first + 1000, fingerprints[i]});
    }
  }
};

}  // namespace seen::kind_checks
