// Snapshots with a second filter: what is like the items that were seen.

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "filter/snapshot.h"
#include "unit/filter/golden_bytes.h"
#include "unit/filter/reference_bloom.h"

namespace seen {
namespace {

using golden::Patched;
using reference::RandomFingerprints;

constexpr size_t kSimilarBytesAt = 56, kSimilarFormatAt = 60;

SnapshotMeta Meta() { return {SnapshotFormat::kSplitBlockBloom, 0, {1763700000123}, {20381}, 7, 41, 0.01}; }

std::string Rendered(const SnapshotShape& shape, std::span<const Fingerprint> seen,
                     std::optional<std::span<const Fingerprint>> similar) {
  std::vector<Fingerprint> sorted(seen.begin(), seen.end());
  std::sort(sorted.begin(), sorted.end());
  const DayOfItems day{{20400}, 20400 * 86400, 20400 * 86400 + 9, sorted};
  std::string bytes = "left from before";
  RenderSnapshot(shape, Meta(), {seen, {&day, 1}}, similar, bytes);
  return bytes;
}

std::string ErrorOf(std::string_view bytes) {
  const auto view = SnapshotView::Parse(bytes);
  return view ? "" : view.error().message;
}

std::vector<SnapshotShape> EveryShape() {
  std::vector<SnapshotShape> shapes;
  for (size_t format = 0; format < kSnapshotFormatCount; ++format)
    shapes.push_back({static_cast<SnapshotFormat>(format), 0.01, false});
  shapes.push_back({SnapshotFormat::kSplitBlockBloom, 0.01, true});
  return shapes;
}

TEST(SimilarSnapshot, HoldsBothOfAnyKindAndAnswersForThemApart) {
  const auto items = RandomFingerprints(700, 1);
  const auto groups = RandomFingerprints(300, 2);
  const auto seen = RandomFingerprints(500, 3);
  std::vector<Fingerprint> similar;
  for (const Fingerprint item : items) similar.push_back(NearFingerprintOf(item));
  for (const Fingerprint group : groups) similar.push_back(GroupFingerprintOf(group));
  const auto strangers = RandomFingerprints(20'000, 4);
  for (const SnapshotShape& shape : EveryShape()) {
    SCOPED_TRACE(SnapshotFormatName(shape.format));
    const std::string bytes = Rendered(shape, seen, similar);
    const auto view = SnapshotView::Parse(bytes);
    ASSERT_TRUE(view) << view.error().message;
    ASSERT_TRUE(view->has_similar());
    EXPECT_EQ(view->similar()->fingerprint_count, similar.size());
    EXPECT_EQ(view->similar()->format, SimilarFormatFor(shape, similar.size()));
    EXPECT_EQ(view->meta().item_count, seen.size());
    // The first is as it is without the second.
    const std::string alone = Rendered(shape, seen, std::nullopt);
    EXPECT_EQ(view->payload(), std::string_view(alone).substr(56));
    EXPECT_EQ(bytes.size(), 72 + view->payload().size() + view->similar()->payload.size());
    for (const Fingerprint item : items) EXPECT_TRUE(view->MightBeNear(item));
    for (const Fingerprint group : groups) EXPECT_TRUE(view->MightHoldGroup(group));
    for (const Fingerprint item : seen) EXPECT_TRUE(view->MightContain(item));
    // Neither the seen nor the near themselves are what a group or a near fingerprint is made of.
    const auto near = [&](Fingerprint stranger) { return view->MightBeNear(stranger); };
    const auto held = [&](Fingerprint stranger) { return view->MightHoldGroup(stranger); };
    EXPECT_LT(std::count_if(strangers.begin(), strangers.end(), near), 300);
    EXPECT_LT(std::count_if(strangers.begin(), strangers.end(), held), 300);
    const auto near_as_group =
        std::count_if(items.begin(), items.end(), [&](auto f) { return view->MightHoldGroup(f); });
    EXPECT_LT(near_as_group, 40);
  }
}

TEST(SimilarSnapshot, WithoutItNothingIsNear) {
  const auto seen = RandomFingerprints(100, 1);
  for (const SnapshotShape& shape : EveryShape()) {
    const std::string bytes = Rendered(shape, seen, std::nullopt);
    const auto view = SnapshotView::Parse(bytes);
    ASSERT_TRUE(view);
    EXPECT_FALSE(view->has_similar());
    EXPECT_FALSE(view->MightBeNear(seen[0]));
    EXPECT_FALSE(view->MightHoldGroup("g"));
    for (const Fingerprint item : seen) EXPECT_FALSE(view->MightBeNear(item));
  }
}

TEST(SimilarSnapshot, MayBeEmptyAndSaysSo) {
  for (const SnapshotShape& shape : EveryShape()) {
    const std::string bytes = Rendered(shape, {}, std::span<const Fingerprint>());
    const auto view = SnapshotView::Parse(bytes);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_TRUE(view->has_similar());
    for (const Fingerprint item : RandomFingerprints(100, 1)) EXPECT_FALSE(view->MightBeNear(item));
  }
}

TEST(SimilarSnapshot, IsOfTheFirstsKindWhereThatCanBe) {
  using enum SnapshotFormat;
  EXPECT_EQ(SimilarFormatFor({kCuckoo, 0.01, false}, 10), kCuckoo);
  EXPECT_EQ(SimilarFormatFor({kDayChain, 0.01, false}, 10), kSplitBlockBloom);
  EXPECT_EQ(SimilarFormatFor({kIndexedCuckoo, 0.01, false}, 10), kSplitBlockBloom);
  EXPECT_EQ(SimilarFormatFor({kBinaryFuse8, 0.001, false}, 10), kSplitBlockBloom);
  for (const size_t count : {0u, 3u, 1000u, 100'000u})
    EXPECT_EQ(SimilarFormatFor({kAuto, 0.001, false}, count), FormatFor(count, 0.001));
  const auto similar = RandomFingerprints(1000, 1);
  const std::string bytes = Rendered({kSplitBlockBloom, 0.01, true}, {}, similar);
  EXPECT_EQ(SnapshotView::Parse(bytes)->similar()->payload.size(), 2048u);
}

TEST(SimilarSnapshot, RefusesAnUnknownFlagBesideItsOwn) {
  const auto seen = RandomFingerprints(30, 1);
  const std::string good = Rendered({SnapshotFormat::kSplitBlockBloom, 0.01, false}, seen, seen);
  EXPECT_EQ(ErrorOf(good), "");
  EXPECT_EQ(ErrorOf(Patched(good, 7, uint8_t{5})), "snapshot: flags 5 are unknown");
}

TEST(SimilarSnapshot, OfArbitraryBytesIsReadWithinThemOrRefused) {
  std::mt19937_64 random(12);
  int read = 0;
  for (const SnapshotShape& shape : EveryShape()) {
    const std::string good = Rendered(shape, RandomFingerprints(10, 1), RandomFingerprints(12, 2));
    for (int round = 0; round < 2'000; ++round) {
      std::string bytes = good;
      for (auto edits = 1 + random() % 4; edits > 0; --edits)
        bytes[56 + random() % (bytes.size() - 56)] = static_cast<char>(random());
      if (round % 4 == 0) bytes[kSimilarFormatAt] = static_cast<char>(random() % 13);
      if (round % 8 == 0) bytes[kSimilarBytesAt] = static_cast<char>(random());
      bytes = Patched(bytes, 7, uint8_t{1});
      // The heap block ends with the bytes: a sanitizer sees a read past it.
      const std::vector<char> exact(bytes.begin(), bytes.end());
      const auto view = SnapshotView::Parse({exact.data(), exact.size()});
      if (!view) continue;
      ++read;
      const Fingerprint asked{static_cast<uint32_t>(random())};
      (void)view->MightBeNear(asked);
      (void)view->MightHoldGroup(asked);
      (void)view->MightContain(asked);
    }
  }
  EXPECT_GT(read, 1000);
}

}  // namespace
}  // namespace seen
