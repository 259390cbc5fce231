#include "bulk_load/sorted_runs.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "support/random_rows.h"

namespace seen::test {
namespace {

StoredLimits TwoFilters() {
  std::vector<StoredFilter> filters(2);
  for (StoredFilter& filter : filters) filter.limits = kLimits;
  return StoredLimits(filters);
}

class SortedRunsTest : public testing::Test {
 protected:
  SortedRunsTest() { EXPECT_NE(mkdtemp(folder_.data()), nullptr); }
  ~SortedRunsTest() override { std::filesystem::remove_all(folder_); }
  size_t Files() const {
    return static_cast<size_t>(std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  Store All(SortedRuns& runs, const Horizon& horizon = Horizon()) {
    Store store;
    std::string last;
    const Status visited = runs.ForEach([&](FilterId) { return horizon; },
                                        [&](const Row& row) {
                                          EXPECT_EQ(row.op, RowOp::kPut);
                                          EXPECT_TRUE(last.empty() || last < row.key);
                                          last = row.key;
                                          store[last] = row.value;
                                          return Status();
                                        });
    EXPECT_TRUE(visited) << visited.error().message;
    return store;
  }
  std::string folder_ = (std::filesystem::temp_directory_path() / "seen-build-XXXXXX").string();
};

TEST_F(SortedRunsTest, AreWhatTheirBatchesAreOneAfterAnother) {
  for (uint64_t seed = 0; seed < 300; ++seed) {
    RandomBatches random(seed);
    std::mt19937_64 chance(seed);
    SortedRuns runs(folder_, "p", TwoFilters());
    Store expected;
    for (int i = 0; i < 8; ++i) {
      RowBatch batch = random.Next();
      Apply(batch, expected);
      runs.Add(std::move(batch));
      if (chance() % 3 == 0) {
        ASSERT_TRUE(runs.Spill());
      }
    }
    ASSERT_EQ(All(runs), expected) << "seed " << seed;
  }
  EXPECT_EQ(Files(), 0u) << "the files go";
}

TEST_F(SortedRunsTest, MoreFilesThanAreReadSideBySideBecomeOne) {
  RandomBatches random(7);
  SortedRuns runs(folder_, "p", TwoFilters());
  Store expected;
  for (int i = 0; i < 300; ++i) {
    RowBatch batch = random.Next();
    Apply(batch, expected);
    runs.Add(std::move(batch));
    ASSERT_TRUE(runs.Spill());
    ASSERT_LE(Files(), 66u);
  }
  EXPECT_EQ(All(runs), expected);
}

TEST_F(SortedRunsTest, WhatHasExpiredIsLeftOut) {
  SortedRuns runs(folder_, "p", TwoFilters());
  for (const auto& [user, day] : {std::pair{"u0", 10}, {"u1", 20}, {"u0", 30}}) {
    RowBatch batch;
    const std::string key = Key(user);
    batch.Add({RowOp::kMerge, key, EncodedDelta(user, day, static_cast<uint32_t>(day))});
    runs.Add(std::move(batch));
  }
  EXPECT_EQ(All(runs, Horizon::Of(Day{25})), (Store{{Key("u0"), EncodedDelta("u0", 30, 30)}}));
}

TEST_F(SortedRunsTest, AFolderThatIsGoneIsAnError) {
  SortedRuns runs(folder_ + "/nowhere", "p", TwoFilters());
  RandomBatches random(1);
  runs.Add(random.Next());
  const Status spilled = runs.Spill();
  ASSERT_FALSE(spilled);
  EXPECT_EQ(spilled.error().code, Code::kUnavailable);
  EXPECT_NE(spilled.error().message.find("nowhere"), std::string::npos);
}

}  // namespace
}  // namespace seen::test
