#include <gtest/gtest.h>

#include <string>

#include "flow/publish_table.h"
#include "model/hashes.h"

namespace seen {
namespace {

UserRef RefOf(uint64_t number, FilterId filter = 0) {
  return {filter, UserKeyOf("user-" + std::to_string(number))};
}

TEST(MarksLeft, IsExactWhileNobodyComesTwice) {
  MarksLeft left;
  EXPECT_TRUE(left.None());
  for (uint64_t i = 0; i < 5'000; ++i) {
    ASSERT_EQ(left.UpperBound(), i);
    left.Add(RefOf(i), false);
  }
  left.Scanned(4'999);
  EXPECT_EQ(left.UpperBound(), 1u);
  left.Scanned(3);  // marks of before, which nobody counted
  EXPECT_TRUE(left.None());
}

TEST(MarksLeft, CountsUsersAndNotHowOftenTheyWereLeft) {
  for (const uint64_t users : {1u, 10u, 100u, 1'000u, 2'500u, 4'000u, 20'000u, 300'000u}) {
    MarksLeft left;
    for (int round = 0; round < 4; ++round) {
      for (uint64_t i = 0; i < users; ++i) left.Add(RefOf(i), false);
    }
    EXPECT_GE(left.UpperBound(), users);
    EXPECT_LE(static_cast<double>(left.UpperBound()), 1.3 * static_cast<double>(users) + 1) << users;
  }
}

TEST(MarksLeft, AUserOfTwoFiltersHasTwoMarks) {
  MarksLeft left;
  for (int round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 10'000; ++i) {
      left.Add(RefOf(i, 0), false);
      left.Add(RefOf(i, 1), false);
    }
  }
  EXPECT_GE(left.UpperBound(), 20'000u);
  EXPECT_LE(left.UpperBound(), 26'000u);
}

TEST(MarksLeft, TheNextScanReadsWhatStandsBehindTheFirst) {
  MarksLeft left;
  for (uint64_t i = 0; i < 100; ++i) left.Add(RefOf(i), false);
  left.Scanned(60);
  for (uint64_t i = 0; i < 30; ++i) left.Add(RefOf(i), true);
  EXPECT_EQ(left.UpperBound(), 70u);
  left.Scanned(40);
  left.ScanEnded();
  EXPECT_EQ(left.UpperBound(), 30u);
  left.Scanned(30);
  left.ScanEnded();
  EXPECT_TRUE(left.None());
}

}  // namespace
}  // namespace seen
