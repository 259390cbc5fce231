#include "flow/items_by_day.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

constexpr uint64_t kDay = 86'400;

TEST(ItemsByDay, GroupsByTheDayOfEachEndNewestFirst) {
  const CountedEnd ends[] = {{{1}, 20 * kDay + 5}, {{2}, 21 * kDay}, {{3}, 20 * kDay + 9}, {{9}, 19 * kDay}};
  ItemsByDay by_day;
  const auto days = by_day.Group(ends, 0);
  ASSERT_EQ(days.size(), 3u);
  EXPECT_EQ(days[0].day, Day{21});
  EXPECT_EQ(days[1].day, Day{20});
  EXPECT_EQ(days[2].day, Day{19});
  EXPECT_EQ(days[1].first_second, 20 * kDay);
  EXPECT_EQ(days[1].last_second, 20 * kDay + 9);
  const std::vector<Fingerprint> twentieth(days[1].fingerprints.begin(), days[1].fingerprints.end());
  EXPECT_EQ(twentieth, (std::vector<Fingerprint>{{1}, {3}}));
  EXPECT_EQ(days[0].fingerprints.size() + days[2].fingerprints.size(), 2u);
}

TEST(ItemsByDay, CountsThemForALaterDayWhereSomeKindIsRememberedLonger) {
  const CountedEnd ends[] = {{{1}, 20 * kDay + 5}};
  ItemsByDay by_day;
  const auto days = by_day.Group(ends, 7);
  ASSERT_EQ(days.size(), 1u);
  EXPECT_EQ(days[0].day, Day{27});
  EXPECT_EQ(days[0].last_second, 20 * kDay + 5) << "the time stays the true one";
}

TEST(ItemsByDay, OfNothingHasNoDay) {
  ItemsByDay by_day;
  EXPECT_TRUE(by_day.Group({}, 0).empty());
}

}  // namespace
}  // namespace seen
