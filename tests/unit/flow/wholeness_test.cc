#include "flow/wholeness.h"

#include <gtest/gtest.h>

#include "model/day.h"

namespace seen {
namespace {

constexpr int64_t kNow = 1'763'700'000'000;
constexpr TimeMs DaysAgo(int64_t days) { return {kNow - days * kMsPerDay}; }

std::vector<FilterPolicy> Filters(std::vector<int32_t> windows = {30}) {
  std::vector<FilterPolicy> filters;
  for (size_t i = 0; i < windows.size(); ++i) {
    FilterPolicy& filter = filters.emplace_back();
    filter.id = static_cast<FilterId>(i);
    filter.name = "f" + std::to_string(i);
    filter.window_days = windows[i];
  }
  return filters;
}

Position Stored(Wholeness& wholeness, int64_t days_ago) {
  Position position;
  position.next_offset = 100;
  position.partition_time = DaysAgo(days_ago);
  position.filters = wholeness.Take();
  return position;
}

using Since = std::optional<TimeMs>;

TEST(Wholeness, ALogThatIsReadFromItsBeginningIsWholeAlways) {
  const Wholeness whole(Filters(), std::nullopt, 0);
  EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since());
  EXPECT_EQ(whole.last_published(0), LastPublished::kInState);
}

TEST(Wholeness, ALogThatBeginsLaterIsWholeOnceTheWindowHasPassedItsFirstRecord) {
  Wholeness whole(Filters({30, 7}), std::nullopt, 3);
  EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(0))) << "nothing was read yet";
  ASSERT_TRUE(whole.awaits_record());
  whole.FirstRecord(DaysAgo(10));
  EXPECT_FALSE(whole.awaits_record());
  EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(10)));
  EXPECT_EQ(whole.IncompleteSince(1, DaysAgo(0)), Since()) << "seven days have passed since";
  EXPECT_EQ(whole.IncompleteSince(0, {DaysAgo(-20).value - 1}), Since(DaysAgo(10)));
  EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(-20)), Since()) << "the thirty days have passed by themselves";
  EXPECT_EQ(whole.last_published(0), LastPublished::kUnread);
}

TEST(Wholeness, ALogThatWasReadAgainMakesAFilterWholeUnlessRecordsWereLostMeanwhile) {
  Wholeness whole(Filters({30, 30}), std::nullopt, 3);
  whole.FirstRecord(DaysAgo(10));
  const uint64_t losses = whole.losses();
  whole.Filled(1, DaysAgo(20), losses);
  EXPECT_EQ(whole.IncompleteSince(1, DaysAgo(0)), Since(DaysAgo(20))) << "as much as the log had";
  EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(10))) << "the other one as before";
  whole.Filled(1, DaysAgo(5), losses);
  EXPECT_EQ(whole.IncompleteSince(1, DaysAgo(0)), Since(DaysAgo(20))) << "never less than before";
  whole.Filled(1, {}, losses);
  EXPECT_EQ(whole.IncompleteSince(1, DaysAgo(0)), Since());
  EXPECT_TRUE(whole.HasChanges());
  whole.Lost(DaysAgo(1), false);
  whole.FirstRecord(DaysAgo(0));
  whole.Filled(0, {}, losses);
  EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(0))) << "the reading began before the loss";
}

TEST(Wholeness, AFilterWithoutARecordYetIsWholeByAFill) {
  Wholeness before(Filters({30}), std::nullopt, 0);
  const Position stored = Stored(before, 1);
  Wholeness whole(Filters({30, 30}), stored, 0);
  ASSERT_TRUE(whole.awaits_record());
  whole.Filled(1, {}, whole.losses());
  EXPECT_FALSE(whole.awaits_record());
  EXPECT_EQ(whole.IncompleteSince(1, DaysAgo(0)), Since());
}

TEST(Wholeness, TheLongestWindowOfAnyKindCounts) {
  auto filters = Filters();
  filters[0].kinds.push_back({"bought", kDeclaredKindFirst, 90});
  Wholeness whole(filters, std::nullopt, 3);
  whole.FirstRecord(DaysAgo(40));
  EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(40)));
}

TEST(Wholeness, ALostRangeEndsAtTheFirstRecordBehindItAndNotBeforeTheLastOneAhead) {
  for (const auto& [first_days_ago, expected_days_ago] : {std::pair{2, 2}, std::pair{9, 5}}) {
    Wholeness whole(Filters(), std::nullopt, 0);
    whole.Lost(DaysAgo(5), false);
    EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(0)));
    whole.FirstRecord(DaysAgo(first_days_ago));
    EXPECT_EQ(whole.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(expected_days_ago)));
    EXPECT_EQ(whole.last_published(0), LastPublished::kInState) << "the state has all that was published";
  }
}

TEST(Wholeness, ARestartGoesOnWithWhatTheCheckpointWrote) {
  Wholeness before(Filters(), std::nullopt, 0);
  before.Lost({0}, true);
  Position stored = Stored(before, 8);
  EXPECT_FALSE(before.HasChanges());
  Wholeness between(Filters(), stored, 0);
  EXPECT_FALSE(between.HasChanges());
  EXPECT_TRUE(between.awaits_record()) << "no record was read before the restart";
  between.FirstRecord(DaysAgo(9));
  EXPECT_TRUE(between.HasChanges());
  between.SetLastPublished(0, LastPublished::kKept);
  const Wholeness after(Filters(), Stored(between, 8), 0);
  EXPECT_EQ(after.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(9)));
  EXPECT_EQ(after.last_published(0), LastPublished::kKept);
}

TEST(Wholeness, AStoreOfAnOlderVersionTakesItFromItsLostRanges) {
  Position stored;
  stored.next_offset = 100;
  EXPECT_EQ(Wholeness(Filters(), stored, 0).IncompleteSince(0, DaysAgo(0)), Since());
  stored.lost_ranges = {{0, 3, DaysAgo(20)}, {10, 12, DaysAgo(4)}};
  EXPECT_EQ(Wholeness(Filters(), stored, 0).IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(4)));
}

TEST(Wholeness, AFilterThatIsAddedLaterBeginsWithTheNextRecord) {
  Wholeness one(Filters(), std::nullopt, 0);
  Wholeness two(Filters({30, 30}), Stored(one, 3), 0);
  EXPECT_EQ(two.IncompleteSince(0, DaysAgo(0)), Since());
  EXPECT_EQ(two.last_published(1), LastPublished::kUnread) << "its topic may be an older filter's";
  two.FirstRecord(DaysAgo(1));
  EXPECT_EQ(two.IncompleteSince(0, DaysAgo(0)), Since());
  EXPECT_EQ(two.IncompleteSince(1, DaysAgo(0)), Since(DaysAgo(1)));
}

TEST(Wholeness, AFilterThatComesBackLacksWhatHappenedMeanwhile) {
  Wholeness two(Filters({30, 30}), std::nullopt, 0);
  Wholeness one(Filters(), Stored(two, 9), 0);
  Wholeness again(Filters({30, 30}), Stored(one, 3), 0);
  again.FirstRecord(DaysAgo(1));
  EXPECT_EQ(again.IncompleteSince(0, DaysAgo(0)), Since());
  EXPECT_EQ(again.IncompleteSince(1, DaysAgo(0)), Since(DaysAgo(1)));
}

TEST(Wholeness, AWindowThatGrowsLacksWhatHadLeftIt) {
  Wholeness shorter(Filters({7}), std::nullopt, 0);
  const Wholeness longer(Filters({30}), Stored(shorter, 1), 0);
  EXPECT_EQ(longer.IncompleteSince(0, DaysAgo(0)), Since(DaysAgo(8)));
}

}  // namespace
}  // namespace seen
