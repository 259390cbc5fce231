#include "flow/publish_table.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <string>

#include "model/hashes.h"

namespace seen {
namespace {

TEST(PublishTable, AgreesWithAMapUnderRandomAddsAndRemovals) {
  std::mt19937_64 random(1);
  PublishTable table;
  std::map<UserRef, uint32_t> expected;
  // Few different tags and homes, so that runs of cells grow, join and break.
  const auto any = [&] {
    return UserRef{static_cast<FilterId>(random() % 2), {random() % 4, random() % 3000}};
  };
  for (int i = 0; i < 200'000; ++i) {
    const UserRef ref = any();
    const auto known = expected.find(ref);
    ASSERT_EQ(table.Find(ref), known == expected.end() ? PublishTable::kNone : known->second);
    // The table fills up and empties in turns.
    if (random() % 100 < (i / 20'000 % 2 == 0 ? 70u : 30u)) {
      const uint32_t number = table.FindOrAdd(ref, Outlet{ref.filter.number()});
      if (known == expected.end()) {
        ASSERT_FALSE(table[number].dirty);
        table[number].dirty = true;
        expected[ref] = number;
      }
      ASSERT_EQ(number, expected[ref]);
      ASSERT_EQ(table[number].ref(), ref);
    } else if (known != expected.end()) {
      table.Remove(known->second);
      expected.erase(known);
    }
    ASSERT_EQ(table.size(), expected.size());
  }
  for (const auto& [ref, number] : expected) ASSERT_EQ(table.Find(ref), number);
  EXPECT_LE(table.end(), 24'000u) << "numbers are used again";
}

TEST(UserRefSet, AgreesWithASetUnderRandomInsertionsAndErasures) {
  std::mt19937_64 random(1);
  UserRefSet users;
  std::set<UserRef> expected;
  for (int i = 0; i < 100'000; ++i) {
    // Few tags, so that users share them.
    const UserRef ref{static_cast<FilterId>(random() % 2), {random() % 4, random() % 500}};
    ASSERT_EQ(users.contains(ref), expected.contains(ref));
    if (random() % 100 < (i / 10'000 % 2 == 0 ? 70u : 30u)) {
      users.insert(ref);
      expected.insert(ref);
    } else {
      users.erase(ref);
      expected.erase(ref);
    }
    ASSERT_EQ(users.refs().size(), expected.size());
    ASSERT_EQ(users.empty(), expected.empty());
  }
  EXPECT_EQ(std::set<UserRef>(users.refs().begin(), users.refs().end()), expected);
}

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
