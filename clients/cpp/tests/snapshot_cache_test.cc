#include "../examples/snapshot_cache.h"

#include <gtest/gtest.h>

#include "encoders.h"

namespace seen::client {
namespace {

using Outcome = SnapshotCache::Outcome;

Snapshot Of(std::string_view item) {
  return *Snapshot::ParseCopy(test::SnapshotOf(Format::kFingerprints, {FingerprintOf(item)}));
}

TEST(SnapshotCache, KeepsTheLastSnapshotOfAUser) {
  SnapshotCache cache(10, 1 << 20);
  EXPECT_EQ(cache.Find("u").outcome, Outcome::kNothingSeen);
  cache.Put("u", Of("a"));
  const std::size_t bytes = cache.bytes();
  cache.Put("u", Of("b"));
  const auto found = cache.Find("u");
  EXPECT_EQ(found.outcome, Outcome::kFound);
  EXPECT_TRUE(found.snapshot.MightContain("b") && !found.snapshot.MightContain("a"));
  cache.Put("u", Of("a"));
  EXPECT_EQ(cache.users(), 1U);
  EXPECT_EQ(cache.bytes(), bytes);
  cache.Forget("u");
  EXPECT_EQ(cache.Find("u").outcome, Outcome::kNothingSeen);
  EXPECT_EQ(cache.bytes(), 0U);
}

TEST(SnapshotCache, DropsTheLeastRecentlyUsedAndThenCannotTellNothingFromAMiss) {
  SnapshotCache cache(2, 1 << 20);
  cache.Put("u", Of("a"));
  cache.Put("v", Of("b"));
  EXPECT_EQ(cache.Find("u").outcome, Outcome::kFound);
  EXPECT_EQ(cache.Find("w").outcome, Outcome::kNothingSeen);
  cache.Put("w", Of("c"));
  EXPECT_EQ(cache.Find("u").outcome, Outcome::kFound) << "used after v";
  EXPECT_EQ(cache.Find("v").outcome, Outcome::kMiss);
  EXPECT_EQ(cache.Find("x").outcome, Outcome::kMiss);
  EXPECT_EQ(cache.users(), 2U);
}

TEST(SnapshotCache, IsBoundedInBytes) {
  SnapshotCache cache(1000, 20000);
  for (int i = 0; i < 1000; ++i) {
    cache.Put("user-" + std::to_string(i), Of("a"));
    ASSERT_LE(cache.bytes(), 20000U);
  }
  EXPECT_GT(cache.users(), 20U);
  const std::string large = test::Envelope(Format::kSplitBlockBloom, std::string(32000, '\0'));
  cache.Put("large", *Snapshot::ParseCopy(large));
  EXPECT_EQ(cache.users(), 0U);
  EXPECT_EQ(cache.Find("large").outcome, Outcome::kMiss);
}

TEST(SnapshotCache, ARefusedSnapshotIsNeverTakenForNothingSeen) {
  SnapshotCache cache(10, 1 << 20);
  cache.Put("u", Of("a"));
  cache.Refused("u");
  EXPECT_EQ(cache.Find("u").outcome, Outcome::kFound) << "the one before it";
  cache.Refused("v");
  EXPECT_EQ(cache.Find("v").outcome, Outcome::kMiss);
  cache.Forget("v");
  EXPECT_EQ(cache.Find("v").outcome, Outcome::kNothingSeen);
}

}  // namespace
}  // namespace seen::client
