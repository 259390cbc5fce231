#include "filter/snapshot.h"

#include <gtest/gtest.h>

#include <random>

#include "filter/split_block_bloom.h"
#include "unit/filter/golden_bytes.h"
#include "unit/filter/reference_bloom.h"

namespace seen {
namespace {

using golden::Patched;
using reference::RandomFingerprints;

SnapshotMeta MetaOf(uint32_t item_count) {
  return {SnapshotFormat::kSplitBlockBloom, item_count, {1763700000123}, {20381}, 7, int64_t{1} << 40, 0.01};
}

std::string ErrorOf(std::string_view bytes) {
  const auto view = SnapshotView::Parse(bytes);
  if (view) return "";
  EXPECT_EQ(view.error().code, Code::kMalformed);
  return view.error().message;
}

TEST(Snapshot, GivesBackWhatWasPutIn) {
  for (const size_t count : {0u, 1u, 10u, 3000u}) {
    const auto fingerprints = RandomFingerprints(count, count);
    SnapshotMeta meta = MetaOf(12345);  // set from the fingerprints, whatever it says
    const std::string bytes = RenderSnapshot(meta, fingerprints);
    const auto view = SnapshotView::Parse(bytes);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->meta(), MetaOf(static_cast<uint32_t>(count)));
    const uint32_t blocks = split_block_bloom::BlocksFor(count, 0.01);
    EXPECT_EQ(view->payload(), reference::Blocks(fingerprints, blocks));
    EXPECT_EQ(bytes.size(), 56 + 32 * blocks);
    for (const Fingerprint fingerprint : fingerprints) EXPECT_TRUE(view->MightContain(fingerprint));
  }
}

TEST(Snapshot, AnswersForItemIdsAndForMany) {
  const Fingerprint in[] = {FingerprintOf("n1")};
  const std::string bytes = RenderSnapshot(MetaOf(1), in);
  const auto view = SnapshotView::Parse(bytes);
  ASSERT_TRUE(view);
  EXPECT_TRUE(view->MightContain("n1"));
  EXPECT_FALSE(view->MightContain("n2"));
  const Fingerprint questions[] = {FingerprintOf("n2"), FingerprintOf("n1"), FingerprintOf("n3")};
  std::array<uint8_t, 3> answers{9, 9, 9};
  view->MightContainEach(questions, answers);
  EXPECT_EQ(answers, (std::array<uint8_t, 3>{0, 1, 0}));
}

TEST(Snapshot, KeepsExtremeMetadata) {
  for (const SnapshotMeta& meta :
       {SnapshotMeta{
            SnapshotFormat::kSplitBlockBloom, 0, {std::numeric_limits<int64_t>::min()}, {-1}, -1, -1, 0.5},
        SnapshotMeta{SnapshotFormat::kSplitBlockBloom,
                     0,
                     {std::numeric_limits<int64_t>::max()},
                     {std::numeric_limits<int32_t>::max()},
                     std::numeric_limits<int32_t>::max(),
                     std::numeric_limits<int64_t>::max(),
                     5e-324}}) {
    const std::string bytes = RenderSnapshot(meta, {});
    const auto view = SnapshotView::Parse(bytes);
    ASSERT_TRUE(view) << view.error().message;
    EXPECT_EQ(view->meta(), meta);
  }
}

TEST(Snapshot, RefusesEveryTruncationAndEveryExtension) {
  const std::string bytes = RenderSnapshot(MetaOf(0), RandomFingerprints(10, 1));
  for (size_t size = 0; size < bytes.size(); ++size) {
    // The heap block ends with the truncated bytes: a sanitizer sees a read past it.
    const std::vector<char> cut(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    EXPECT_NE(ErrorOf({cut.data(), cut.size()}), "") << size;
  }
  for (size_t more = 1; more < 70; ++more) EXPECT_NE(ErrorOf(bytes + std::string(more, '\0')), "") << more;
  EXPECT_NE(ErrorOf(bytes + bytes), "");
}

TEST(Snapshot, RefusesEveryFlippedBit) {
  std::string bytes = RenderSnapshot(MetaOf(0), RandomFingerprints(10, 1));
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
    EXPECT_NE(ErrorOf(bytes), "") << bit;
    bytes[bit / 8] = static_cast<char>(bytes[bit / 8] ^ 1 << bit % 8);
  }
  EXPECT_EQ(ErrorOf(bytes), "");
}

TEST(Snapshot, OfArbitraryBytesIsReadWithinThemOrRefused) {
  std::mt19937_64 random(11);
  const std::string good = RenderSnapshot(MetaOf(0), RandomFingerprints(10, 1));
  int read = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes = good.substr(0, random() % (good.size() + 1));
    for (auto edits = random() % 8; edits > 0 && bytes.size() > 8; --edits) {
      bytes[4 + random() % (bytes.size() - 4)] = static_cast<char>(random());
    }
    if (round % 2 == 0 && bytes.size() > 56) bytes = Patched(bytes, 5, static_cast<uint8_t>(random() % 3));
    const auto view = SnapshotView::Parse(bytes);
    // With its checksum made good some are snapshots: then they answer without reading past their bytes.
    if (!view) continue;
    ++read;
    (void)view->MightContain(Fingerprint{static_cast<uint32_t>(random())});
  }
  EXPECT_GT(read, 0);
}

}  // namespace
}  // namespace seen
