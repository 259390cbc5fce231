#include "state_stream/retention.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

using namespace std::chrono_literals;  // NOLINT: tests
using Before = std::map<int32_t, int64_t>;

TEST(StreamTrimmer, KeepsWhatAWholeBaseHasReplacedForAWhile) {
  constexpr Instant kStart{1h};
  StreamTrimmer trimmer(10min);
  EXPECT_EQ(trimmer.Due({{0, 100}, {1, kNoOffset}}, kStart), Before());
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, kNoOffset}}, kStart + 5min), Before());
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, kNoOffset}}, kStart + 10min), (Before{{0, 100}}));
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, kNoOffset}}, kStart + 11min), (Before{{0, 100}})) << "it wasn't done";
  trimmer.Trimmed({{0, 100}});
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, kNoOffset}}, kStart + 12min), Before());
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, kNoOffset}}, kStart + 15min), (Before{{0, 200}}));
  // Another daemon owned the partition meanwhile. Its base is new to this one.
  EXPECT_EQ(trimmer.Due({{1, kNoOffset}}, kStart + 16min), Before());
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, kNoOffset}}, kStart + 17min), Before());
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, kNoOffset}}, kStart + 27min), (Before{{0, 200}}));
}

TEST(StreamTrimmer, ForgetsTheOffsetsOfATopicThatWasReplaced) {
  constexpr Instant kStart{1h};
  StreamTrimmer trimmer(10min);
  EXPECT_EQ(trimmer.Due({{0, 100}, {1, 100}}, kStart), Before());
  EXPECT_EQ(trimmer.Due({{0, 200}, {1, 200}}, kStart + 5min), Before());
  EXPECT_EQ(trimmer.Due({{0, 3}, {1, kNoOffset}}, kStart + 10min), Before())
      << "100 is beyond the new topic's base";
  EXPECT_EQ(trimmer.Due({{0, 3}, {1, 300}}, kStart + 15min), Before());
  EXPECT_EQ(trimmer.Due({{0, 3}, {1, 300}}, kStart + 20min), (Before{{0, 3}}));
  trimmer.Trimmed({{0, 3}});
  EXPECT_EQ(trimmer.Due({{0, 1}, {1, 300}}, kStart + 25min), (Before{{1, 300}}));
  EXPECT_EQ(trimmer.Due({{0, 1}}, kStart + 35min), (Before{{0, 1}}));
}

TEST(KeptCopies, TheOldestGoFirstUntilTheRestFits) {
  const std::vector<KeptCopy> copies = {{1, 30, 50}, {2, 10, 50}, {3, 20, 50}, {4, 40, 50}};
  struct Case {
    uint64_t bytes_max;
    int32_t stays;  // the topic doesn't have its state
    std::vector<int32_t> removed;
    uint64_t left;
  };
  const std::vector<Case> cases = {{200, -1, {}, 200},
                                   {199, -1, {2}, 150},
                                   {100, -1, {2, 3}, 100},
                                   {100, 2, {3, 1}, 100},
                                   {0, 4, {2, 3, 1}, 50}};
  for (const Case& each : cases) {
    std::vector<int32_t> removed;
    const uint64_t left = RemoveOldest(copies, each.bytes_max, [&](const KeptCopy& copy) {
      if (copy.partition == each.stays) return false;
      removed.push_back(copy.partition);
      return true;
    });
    EXPECT_EQ(removed, each.removed) << each.bytes_max;
    EXPECT_EQ(left, each.left);
  }
}

}  // namespace
}  // namespace seen
