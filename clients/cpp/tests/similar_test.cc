// Snapshots that say what is similar.

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "encoders.h"
#include "seen/snapshot.h"

namespace seen::client {
namespace {

Fingerprint Of(std::string_view id, char domain) {
  const auto print = static_cast<std::uint32_t>(FingerprintOf(id));
  std::string bytes;
  test::Put(bytes, print);
  bytes += domain;
  return static_cast<Fingerprint>(XXH64(bytes.data(), bytes.size(), 0) >> 32);
}

/// seen-0 was seen; near-0, 7 and what is of group-0 are like what was seen.
std::string Sample() {
  const std::string seen = test::SnapshotOf(Format::kFingerprints, test::Numbered("seen-", 1));
  return test::WithSimilar(
      seen, Format::kFingerprints,
      test::FingerprintsPayload({Of("near-0", '\1'), Of("7", '\1'), Of("group-0", '\2')}, 25));
}

TEST(Similar, IsAskedApartFromWhatWasSeen) {
  const auto snapshot = Snapshot::ParseCopy(Sample());
  ASSERT_TRUE(snapshot) << snapshot.error().message;
  EXPECT_TRUE(snapshot->has_similar());
  EXPECT_EQ(snapshot->similar_format(), Format::kFingerprints);
  EXPECT_EQ(snapshot->similar_count(), 12U);
  EXPECT_TRUE(snapshot->MightContain("seen-0"));
  EXPECT_FALSE(snapshot->MightContain("near-0"));
  EXPECT_FALSE(snapshot->MightBeNear("seen-0"));
  EXPECT_TRUE(snapshot->MightBeNear("near-0"));
  EXPECT_TRUE(snapshot->MightBeNear(std::string("near-0")));
  EXPECT_TRUE(snapshot->MightBeNear(std::string_view("near-0")));
  EXPECT_TRUE(snapshot->MightBeNear(FingerprintOf("near-0")));
  EXPECT_TRUE(snapshot->MightBeNear(7));
  EXPECT_FALSE(snapshot->MightBeNear(8U));
  EXPECT_FALSE(snapshot->MightBeNear("group-0"));
  EXPECT_TRUE(snapshot->MightHoldGroup("group-0"));
  EXPECT_FALSE(snapshot->MightHoldGroup("near-0"));
  EXPECT_EQ(snapshot->Unseen(std::vector<std::string>{"near-0", "seen-0"}),
            std::vector<std::string>{"near-0"});
}

TEST(Similar, OfManyIsAskedAtOnce) {
  const auto snapshot = Snapshot::ParseCopy(Sample());
  ASSERT_TRUE(snapshot);
  std::vector<std::string> ids;
  for (int i = 0; i < 1000; ++i) ids.push_back(i % 3 == 0 ? "near-0" : i % 3 == 1 ? "group-0" : "none");
  std::vector<std::uint8_t> near(ids.size(), 9), groups(ids.size(), 9);
  snapshot->MightBeNearEach(ids.data(), ids.size(), near.data());
  snapshot->MightHoldGroupEach(ids.data(), ids.size(), groups.data());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    EXPECT_EQ(near[i], i % 3 == 0 ? 1 : 0);
    EXPECT_EQ(groups[i], i % 3 == 1 ? 1 : 0);
  }
  const int numbers[] = {7, 8};
  snapshot->MightBeNearEach(numbers, 2, near.data());
  EXPECT_EQ(near[0], 1);
  EXPECT_EQ(near[1], 0);
}

TEST(Similar, IsNothingWhereTheSnapshotDoesNotSay) {
  const Snapshot empty = Snapshot::Empty();
  EXPECT_FALSE(empty.has_similar());
  EXPECT_FALSE(empty.MightBeNear("n1"));
  EXPECT_FALSE(empty.MightHoldGroup("n1"));
}

}  // namespace
}  // namespace seen::client
