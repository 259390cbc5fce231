#include "flow/user_rows.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <thread>

#include "flow/partition_options.h"

namespace seen {
namespace {

UserKey Key(uint64_t number) { return {number * 0x9e3779b97f4a7c15ull, number * 0xc2b2ae3d27d4eb4full}; }

std::vector<std::string> RowsOf(const UserRows& rows, const UserKey& user) {
  std::vector<std::string> all;
  for (const UserRows::Row* row = rows.Newest(user); row; row = row->older) all.emplace_back(row->bytes());
  return all;
}

TEST(UserRows, GivesEachUsersRowsNewestFirst) {
  UserRows rows(std::make_shared<TailMemory>(1 << 20));
  EXPECT_EQ(rows.Newest(Key(1)), nullptr);
  EXPECT_EQ(rows.bytes(), 0u);
  rows.Append(Key(1), "a");
  rows.Append(Key(2), "");
  rows.Append(Key(1), "bb");
  EXPECT_EQ(RowsOf(rows, Key(1)), (std::vector<std::string>{"bb", "a"}));
  EXPECT_EQ(RowsOf(rows, Key(2)), (std::vector<std::string>{""}));
  EXPECT_EQ(RowsOf(rows, Key(3)), (std::vector<std::string>{}));
  EXPECT_GT(rows.bytes(), 3 * sizeof(UserRows::Row));
}

TEST(UserRows, HoldsWhatAMapHoldsThroughGrowthLongRowsAndMemoryUsedAgain) {
  const auto memory = std::make_shared<TailMemory>(8 << 20);
  std::mt19937_64 random(3);
  for (int round = 0; round < 3; ++round) {
    UserRows rows(memory);
    std::map<UserKey, std::vector<std::string>> expected;
    uint64_t put = 0;
    while (rows.bytes() < memory->tail_bytes_max()) {
      const UserKey user = Key(random() % 20'000);
      const size_t size = random() % 5'000 == 0 ? memory->chunk_bytes() + random() % 1000 : random() % 200;
      const std::string row(size, static_cast<char>('a' + random() % 26));
      rows.Append(user, row);
      expected[user].insert(expected[user].begin(), row);
      put += row.size();
    }
    ASSERT_GT(expected.size(), 2'000u);
    EXPECT_GE(rows.bytes(), put);
    for (const auto& [user, of] : expected) ASSERT_EQ(RowsOf(rows, user), of);
    const auto users = rows.SortedUsers();
    ASSERT_EQ(users.size(), expected.size());
    EXPECT_TRUE(std::equal(users.begin(), users.end(), expected.begin(),
                           [](const UserRows::User* user, const auto& of) { return user->key == of.first; }));
  }
}

TEST(UserRows, ReadersSeeARowWholeWhileOthersAreWritten) {
  UserRows rows(std::make_shared<TailMemory>(16 << 20));
  constexpr uint64_t kUsers = 5'000;
  std::atomic<uint64_t> written{0};
  std::thread writer([&] {
    for (uint64_t i = 0; i < 60'000; ++i) {
      rows.Append(Key(i % kUsers), std::to_string(i));
      written.store(i + 1, std::memory_order_release);
    }
  });
  std::mt19937_64 random(5);
  for (uint64_t seen = 0; seen < 60'000;) {
    seen = written.load(std::memory_order_acquire);
    if (seen == 0) continue;
    const uint64_t user = random() % std::min(seen, kUsers);
    const auto of = RowsOf(rows, Key(user));
    ASSERT_GE(of.size(), (seen - user + kUsers - 1) / kUsers);
    for (size_t i = 0; i < of.size(); ++i) {
      ASSERT_EQ(of[i], std::to_string(user + (of.size() - 1 - i) * kUsers));
    }
  }
  writer.join();
}

TEST(JournalBudget, LetsTheOldestDaysGoFirst) {
  JournalBudget budget(100);
  EXPECT_LT(budget.Floor(), Day{-1'000'000});
  budget.Report(0, {{{10}, 30}, {{11}, 40}});
  EXPECT_LT(budget.Floor(), Day{10});
  budget.Report(1, {{{9}, 10}, {{10}, 10}, {{11}, 20}});  // 110 in all
  EXPECT_EQ(budget.Floor(), Day{10});
  budget.Report(1, {{{10}, 10}, {{11}, 20}});
  EXPECT_LT(budget.Floor(), Day{10}) << "it fits again";
  budget.Report(1, {{{10}, 10}, {{11}, 61}});  // without day 10 still 101
  EXPECT_EQ(budget.Floor(), Day{12});
  budget.Forget(1);
  EXPECT_LT(budget.Floor(), Day{10});
}

constexpr uint64_t kDay = 86'400;

TEST(ItemsByDay, GroupsByDayNewestFirst) {
  const CountedEnd ends[] = {{{1}, 20 * kDay + 5, 20 * kDay + 2, {20}},
                             {{2}, 21 * kDay, 21 * kDay, {21}},
                             {{3}, 20 * kDay + 9, 20 * kDay + 4, {20}},
                             {{9}, 19 * kDay, 19 * kDay, {19}}};
  ItemsByDay by_day;
  const auto days = by_day.Group(ends, DayBy::kWindow);
  ASSERT_EQ(days.size(), 3u);
  EXPECT_EQ(days[0].day, Day{21});
  EXPECT_EQ(days[1].day, Day{20});
  EXPECT_EQ(days[2].day, Day{19});
  EXPECT_EQ(days[1].first_second, 20 * kDay + 2);
  EXPECT_EQ(days[1].last_second, 20 * kDay + 9);
  const std::vector<Fingerprint> twentieth(days[1].fingerprints.begin(), days[1].fingerprints.end());
  EXPECT_EQ(twentieth, (std::vector<Fingerprint>{{1}, {3}}));
  EXPECT_EQ(days[0].fingerprints.size() + days[2].fingerprints.size(), 2u);
}

TEST(ItemsByDay, TakesTheDayAnItemCountsForNotThatOfItsTime) {
  const CountedEnd ends[] = {{{1}, 20 * kDay + 5, 20 * kDay, {27}}};
  ItemsByDay by_day;
  const auto days = by_day.Group(ends, DayBy::kWindow);
  ASSERT_EQ(days.size(), 1u);
  EXPECT_EQ(days[0].day, Day{27});
  EXPECT_EQ(days[0].last_second, 20 * kDay + 5);
  EXPECT_EQ(by_day.Group(ends, DayBy::kTime)[0].day, Day{20});
}

TEST(ItemsByDay, OfNothingHasNoDay) {
  ItemsByDay by_day;
  EXPECT_TRUE(by_day.Group({}, DayBy::kWindow).empty());
}

}  // namespace
}  // namespace seen
