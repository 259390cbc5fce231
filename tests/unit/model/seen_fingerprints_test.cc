#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "model/change.h"
#include "support/random_history.h"

namespace seen {
namespace {

Segment On(int32_t day, std::vector<uint32_t> values) {
  Segment segment{{day}, 0, 0, {}};
  for (const uint32_t value : values) segment.fingerprints.push_back({value});
  return segment;
}

std::vector<uint32_t> Values(const std::vector<Fingerprint>& fingerprints) {
  std::vector<uint32_t> values;
  for (const Fingerprint fingerprint : fingerprints) values.push_back(fingerprint.value);
  return values;
}

using V = std::vector<uint32_t>;

TEST(SeenFingerprints, KeepTheNewestAndCutTheCrossingDayByFingerprint) {
  Delta delta;
  delta.segments = {On(1, {10, 20}), On(2, {5, 30, 40}), On(3, {7, 9})};
  EXPECT_EQ(Values(SeenFingerprints(delta, {0}, 7)), (V{5, 7, 9, 10, 20, 30, 40}));
  EXPECT_EQ(Values(SeenFingerprints(delta, {0}, 6)), (V{5, 7, 9, 10, 30, 40}));
  EXPECT_EQ(Values(SeenFingerprints(delta, {0}, 3)), (V{5, 7, 9}));
  EXPECT_EQ(Values(SeenFingerprints(delta, {0}, 1)), (V{7}));
}

TEST(SeenFingerprints, NeverFallBelowItemsMaxWhileThereAreThatMany) {
  for (uint64_t seed = 0; seed < 1'000; ++seed) {
    std::mt19937_64 random(seed);
    test::HistoryShape shape;
    shape.items = 30;
    shape.removed_percent = 10;
    const Delta delta = DeltaOf("u", test::RandomHistory(random, 80, shape), {});
    const Day horizon{static_cast<int32_t>(shape.first_day + 1)};
    std::map<uint32_t, int32_t> newest;
    for (const Segment& segment : delta.segments) {
      if (segment.day < horizon) continue;
      for (const Fingerprint fp : segment.fingerprints) newest[fp.value] = segment.day.since_epoch;
    }
    for (const uint32_t items_max : {1u, 5u, 20u, 100u}) {
      const auto seen = SeenFingerprints(delta, horizon, items_max);
      ASSERT_EQ(seen.size(), std::min<size_t>(items_max, newest.size())) << "seed " << seed;
      ASSERT_TRUE(std::is_sorted(seen.begin(), seen.end()));
      int32_t oldest_kept = INT32_MAX;
      for (const Fingerprint fp : seen) oldest_kept = std::min(oldest_kept, newest.at(fp.value));
      for (const auto& [value, day] : newest) {
        const bool kept = std::binary_search(seen.begin(), seen.end(), Fingerprint{value});
        ASSERT_TRUE(kept || day <= oldest_kept) << "seed " << seed;
      }
    }
  }
}

}  // namespace
}  // namespace seen
