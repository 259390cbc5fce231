#include <gtest/gtest.h>

#include "flow/user_rows.h"

namespace seen {
namespace {

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
