#include "flow/freshness.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

using namespace std::chrono_literals;
constexpr Instant kStart{std::chrono::hours(1)};

TEST(FreshnessTest, KnowsNothingBeforeAnAnswer) {
  const Freshness freshness;
  const auto reading = freshness.At(kStart, 100);
  EXPECT_FALSE(reading.end_is_known);
  EXPECT_EQ(reading.age, std::nullopt);
}

TEST(FreshnessTest, CountsFromTheQuestionWhoseEndHasBeenRead) {
  Freshness freshness;
  freshness.EndConfirmed(100, kStart, 60);
  EXPECT_EQ(freshness.At(kStart + 10ms, 99).age, std::nullopt) << "the end isn't reached yet";
  EXPECT_EQ(freshness.At(kStart + 10ms, 100).age, 10ms);
  EXPECT_EQ(freshness.At(kStart + 90ms, 120).age, 90ms) << "more was read, but no later end is known";
  freshness.EndConfirmed(120, kStart + 200ms, 120);
  EXPECT_EQ(freshness.At(kStart + 250ms, 120).age, 50ms);
}

TEST(FreshnessTest, RoundsAnAgeUp) {
  Freshness freshness;
  freshness.EndConfirmed(100, kStart, 100);
  EXPECT_EQ(freshness.At(kStart + 1us, 100).age, 1ms);
}

TEST(FreshnessTest, DoesNotKnowTheEndASecondAfterTheQuestion) {
  Freshness freshness;
  freshness.EndConfirmed(100, kStart, 100);
  EXPECT_TRUE(freshness.At(kStart + 1s, 100).end_is_known);
  EXPECT_FALSE(freshness.At(kStart + 1s + 1ns, 100).end_is_known);
  EXPECT_EQ(freshness.At(kStart + 5s, 100).age, 5s) << "the age is known all the same";
  freshness.EndConfirmed(170, kStart + 5s, 100);
  EXPECT_TRUE(freshness.At(kStart + 5s, 100).end_is_known);
  EXPECT_EQ(freshness.At(kStart + 5s, 100).age, 5s) << "the new end isn't reached";
}

TEST(FreshnessTest, IsBoundedInAStreamThatNeverStandsStill) {
  // 1,000 records a second, and a question every 300 ms. A reader that is 450 or 1,000 ms behind never
  // reaches the newest end before the next one is confirmed. The reported age still stays near the true age.
  for (const int64_t behind : {150, 450, 1'000}) {
    Freshness freshness;
    for (int64_t ms = 0; ms < 20'000; ++ms) {
      const Instant now = kStart + std::chrono::milliseconds(ms);
      const int64_t next_offset = std::max<int64_t>(0, ms - behind);
      if (ms % 300 == 0) freshness.EndConfirmed(ms, now, next_offset);
      if (ms < 5'000) continue;
      const auto age = freshness.At(now, next_offset).age;
      ASSERT_TRUE(age);
      ASSERT_GE(age->count(), behind) << "never younger than it is";
      ASSERT_LE(age->count(), 2 * behind + 600) << behind << " at " << ms;
    }
  }
}

TEST(FreshnessTest, LeavesOutAnAnswerThatAnotherOneHasOvertaken) {
  Freshness freshness;
  freshness.EndConfirmed(100, kStart + 300ms, 100);
  freshness.EndConfirmed(90, kStart, 100);
  EXPECT_EQ(freshness.At(kStart + 400ms, 100).age, 100ms);
}

TEST(FreshnessTest, DoesNotGetYoungerAsTheProcessStandsStill) {
  Freshness freshness;
  freshness.EndConfirmed(100, kStart, 100);
  // The question was asked before the stop. The answer comes out of the socket after the stop.
  freshness.EndConfirmed(100, kStart + 10ms, 100);
  const auto reading = freshness.At(kStart + 8s, 100);
  EXPECT_FALSE(reading.end_is_known);
  EXPECT_EQ(reading.age, 7'990ms);
}

}  // namespace
}  // namespace seen
