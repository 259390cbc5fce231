// The day by whose windows snapshots may be rendered, while another thread writes checkpoints.
#include "flow/rendered_day.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

constexpr Day kToday{20'000};
constexpr Day kAhead{20'040};
const TimeMs kNoon{StartOf(kToday).value + kMsPerDay / 2};
constexpr Instant kNow{std::chrono::seconds(5)};

/// A store that holds today.
struct RenderedDayTest : public ::testing::Test {
  RenderedDayTest() { day.Opened(kToday); }
  void Checkpoint(TimeMs wall) {
    stored = day.Begin(wall);
    day.Committed();
  }
  RenderedDay day{false};
  Day stored = kToday;
};

TEST_F(RenderedDayTest, ANewDayWaitsUntilTheCheckpointThatHoldsItIsDone) {
  EXPECT_TRUE(day.MayRender(kToday, kNow));
  EXPECT_FALSE(day.AwaitsCheckpoint());
  EXPECT_FALSE(day.MayRender(kToday + 1, kNow));
  EXPECT_TRUE(day.AwaitsCheckpoint());
  EXPECT_EQ(day.Begin(StartOf(kToday + 1)), kToday + 1);
  EXPECT_FALSE(day.MayRender(kToday + 1, kNow)) << "it may still fail";
  day.Committed();
  EXPECT_TRUE(day.MayRender(kToday + 1, kNow));
}

TEST_F(RenderedDayTest, ACheckpointThatFailsLetsNothingLeave) {
  EXPECT_FALSE(day.MayRender(kAhead, kNow));
  EXPECT_EQ(day.Begin(StartOf(kAhead)), kAhead);
  EXPECT_FALSE(day.MayRender(kAhead, kNow));
  EXPECT_EQ(day.Begin(kNoon), kToday) << "the clock is right again, and nothing of that day has left";
}

TEST_F(RenderedDayTest, ADayThatWasRenderedStaysInTheStoreUntilASweepOfAllBegins) {
  Checkpoint(StartOf(kAhead));
  ASSERT_TRUE(day.MayRender(kAhead, kNow));
  Checkpoint(kNoon);
  EXPECT_EQ(stored, kAhead);
  EXPECT_TRUE(day.IsAfter(kToday));
  day.BackTo(kToday);
  EXPECT_FALSE(day.IsAfter(kToday));
  Checkpoint(kNoon);
  EXPECT_EQ(stored, kToday);
}

TEST_F(RenderedDayTest, ADayGoesBackBesideACheckpointThatIsUnderWayAndCanNotLeaveAgain) {
  Checkpoint(StartOf(kAhead));
  ASSERT_TRUE(day.MayRender(kAhead, kNow));
  EXPECT_EQ(day.Begin(kNoon), kAhead);
  day.BackTo(kToday);
  day.Committed();
  EXPECT_FALSE(day.MayRender(kAhead, kNow)) << "the next checkpoint writes today";
  EXPECT_TRUE(day.MayRender(kToday, kNow));
}

TEST_F(RenderedDayTest, WhatACheckpointAnnouncedStaysAllowedUntilASweepBegins) {
  Checkpoint({StartOf(kToday + 1).value - 1000});
  EXPECT_EQ(stored, kToday + 1);
  Checkpoint({kNoon.value - 3 * kMsPerDay});
  EXPECT_EQ(stored, kToday + 1) << "snapshots of that day may leave at any time";
  EXPECT_TRUE(day.MayRender(kToday + 1, kNow));
}

TEST(RenderedDay, AStoreWithoutAPositionNeedsNoDayUntilItsFirstCheckpointBegins) {
  RenderedDay day(true);
  day.Opened(std::nullopt);
  EXPECT_TRUE(day.MayRender(kToday, kNow));
  EXPECT_EQ(day.Begin(kNoon), kToday);
  EXPECT_TRUE(day.MayRender(kToday, kNow));
  EXPECT_FALSE(day.MayRender(kAhead, kNow)) << "the log isn't read from its beginning any more";
  day.Committed();
  EXPECT_TRUE(day.MayRender(kToday, kNow));
}

TEST(RenderedDay, AStoreOfAnOlderVersionHoldsNoDayAndAsksForACheckpoint) {
  RenderedDay day(false);
  day.Opened(std::nullopt);
  EXPECT_FALSE(day.MayRender(kToday, kNow));
  EXPECT_TRUE(day.AwaitsCheckpoint());
}

TEST(RenderedDay, ADayThatAnEarlierProcessStoredAheadIsKnown) {
  RenderedDay day(false);
  day.Opened(kAhead);
  EXPECT_TRUE(day.IsAfter(kToday));
}

TEST_F(RenderedDayTest, SaysWhenAnotherDayWasLastRendered) {
  EXPECT_EQ(day.LastOfAnother(kToday), Instant()) << "never by this process";
  ASSERT_TRUE(day.MayRender(kToday, kNow));
  const Instant done = kNow + std::chrono::seconds(1);
  day.Rendered(done);
  EXPECT_EQ(day.LastOfAnother(kToday), Instant());
  EXPECT_EQ(day.LastOfAnother(kToday - 1), done);
  ASSERT_TRUE(day.MayRender(kToday - 1, done + std::chrono::seconds(1)));
  EXPECT_EQ(day.LastOfAnother(kToday - 1), done);
}

}  // namespace
}  // namespace seen
