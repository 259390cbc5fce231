#include "flow/loss_watch.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "support/fakes.h"

namespace seen {
namespace {

class LossWatchTest : public ::testing::Test {
 protected:
  static LossWatch::Options Exposures() { return {.topic = "exposures", .limits = {}}; }

  /// Some events, `lost` of them by the cause.
  static LiveReport Batch(uint64_t events, LossCause cause, uint64_t lost) {
    LiveReport report;
    report.counts.events = events;
    report.counts.LostBy(cause) = lost;
    return report;
  }
  LossShare ShareOf(LossCause cause) const {
    for (const LossShare& share : watch.Look().causes) {
      if (share.cause == cause) return share;
    }
    ADD_FAILURE() << "no share of " << LossCauseName(cause);
    return {};
  }

  sim::VirtualClock clock;
  LossWatch watch{Exposures(), clock};
};

TEST_F(LossWatchTest, KnowsNothingBeforeTheFirstEvent) {
  const TopicLoss loss = watch.Look();
  EXPECT_EQ(loss.topic, "exposures");
  EXPECT_EQ(loss.events, 0u);
  EXPECT_EQ(loss.events_per_s, std::nullopt);
  EXPECT_EQ(loss.newest, std::nullopt);
  ASSERT_EQ(loss.causes.size(), kLossCauses.size());
  for (const LossShare& share : loss.causes) EXPECT_EQ(share.trouble, "");
}

TEST_F(LossWatchTest, NinetyNineLostEventsAreNoTroubleAndAHundredAreOne) {
  for (const LossCause cause : kLossCauses) {
    if (cause == LossCause::kUnreached) continue;
    LossWatch some(Exposures(), clock);
    const auto trouble = [&] { return some.Look().causes[static_cast<size_t>(cause)].trouble; };
    some.Add(Batch(99, cause, 99));
    EXPECT_EQ(trouble(), "") << LossCauseName(cause);
    some.Add(Batch(1, cause, 1));
    EXPECT_NE(trouble(), "") << LossCauseName(cause);
  }
}

TEST_F(LossWatchTest, AShareIsATroubleOnlyBeyondItsLimit) {
  watch.Add(Batch(1'000, LossCause::kTooOld, 50));
  EXPECT_EQ(ShareOf(LossCause::kTooOld).share, 0.05);
  EXPECT_EQ(ShareOf(LossCause::kTooOld).trouble, "") << "the limit itself is allowed";
  watch.Add(Batch(1, LossCause::kTooOld, 1));
  EXPECT_NE(ShareOf(LossCause::kTooOld).trouble, "");
  for (const LossCause other : {LossCause::kSkipped, LossCause::kNoFilter, LossCause::kRejected})
    EXPECT_EQ(ShareOf(other).trouble, "");
}

TEST_F(LossWatchTest, ALimitOfOneIsNeverReached) {
  LossWatch::Options options = Exposures();
  options.limits.skipped_share_max = 1;
  LossWatch some(options, clock);
  some.Add(Batch(1'000, LossCause::kSkipped, 1'000));
  EXPECT_EQ(some.Look().causes[1].share, 1.0);
  EXPECT_EQ(some.Look().causes[1].trouble, "");
}

TEST_F(LossWatchTest, EventsOfNowThatAreOutOfEveryWindowAskForTheClock) {
  LossWatch::Options options = Exposures();
  options.longest_window = std::chrono::days(30);
  LossWatch some(options, clock);
  constexpr int64_t kDayMs = 86'400'000;
  const auto too_old = [&](uint64_t at_end, int64_t days_old) {
    clock.Advance(600'000);
    LiveReport report = Batch(100, LossCause::kTooOld, 0);
    report.counts.at_end = at_end;
    report.newest = {clock.WallNow().value - days_old * kDayMs - 1};
    some.Add(report);
    return some.Look().causes[0];
  };
  EXPECT_EQ(too_old(100, 29).trouble, "");
  EXPECT_EQ(too_old(99, 30).trouble, "") << "too few, or a backlog";
  const LossShare share = too_old(100, 30);
  EXPECT_TRUE(
      share.trouble.starts_with("all events that come to \"exposures\" are older than every window by "
                                "this machine's clock, the newest of "))
      << share.trouble;
  EXPECT_EQ(share.share, 1);
  EXPECT_EQ(too_old(100, 0).trouble, "");
  LiveReport of_1970 = Batch(100, LossCause::kTooOld, 100);
  of_1970.counts.at_end = of_1970.counts.before_1971 = 100;
  of_1970.newest = {1'763'700'000};
  LossWatch other(options, clock);
  other.Add(of_1970);
  EXPECT_TRUE(other.Look().causes[0].trouble.starts_with("100% of events are before 1971: is the unit"));
}

TEST_F(LossWatchTest, MisroutedEventsOfHistoriesCountToo) {
  LiveReport report = Batch(0, LossCause::kMisrouted, 2);
  report.counts.replayed = 100;
  watch.Add(report);
  EXPECT_EQ(ShareOf(LossCause::kMisrouted).share, 0.02);
  EXPECT_NE(ShareOf(LossCause::kMisrouted).trouble, "");
  EXPECT_EQ(watch.Look().events, 0u);
}

TEST_F(LossWatchTest, AFilterThatNoEventReachesIsNamedAfterSoManyEvents) {
  LossWatch::Options options = Exposures();
  options.filters = {"all", "home"};
  LossWatch some(options, clock);
  LiveReport report = Batch(9'999, LossCause::kTooOld, 0);
  report.counts.reached = 0b01;
  some.Add(report);
  const auto unreached = [&] { return some.Look().causes.back(); };
  EXPECT_EQ(unreached().trouble, "");
  report.counts.events = 1;
  some.Add(report);
  clock.Advance(86'400'000);
  EXPECT_EQ(unreached().trouble,
            "none of 10,000 events in \"exposures\" reached filter \"home\": do its scenes and its condition "
            "`when` fit them?");
  EXPECT_EQ(unreached().share, 1);
  report.counts.reached = 0b10;
  some.Add(report);
  EXPECT_EQ(unreached().trouble, "") << "one event is enough";
  EXPECT_EQ(unreached().share, 0);
}

TEST_F(LossWatchTest, ATroubleEndsWithTheWindowOrWithEnoughGoodEvents) {
  watch.Add(Batch(200, LossCause::kTooOld, 200));
  clock.Advance(589'000);
  EXPECT_NE(ShareOf(LossCause::kTooOld).trouble, "");
  clock.Advance(11'000);
  EXPECT_EQ(watch.Look().events, 0u);
  EXPECT_EQ(ShareOf(LossCause::kTooOld).trouble, "");
  watch.Add(Batch(200, LossCause::kTooOld, 200));
  watch.Add(Batch(4'000, LossCause::kTooOld, 0));
  EXPECT_EQ(ShareOf(LossCause::kTooOld).trouble, "") << "200 of 4,200";
  clock.Advance(86'400'000);
  watch.Add(Batch(1, LossCause::kTooOld, 0));
  EXPECT_EQ(watch.Look().events, 1u) << "slots of other times are left out";
}

TEST_F(LossWatchTest, TheRateIsThatOfTheLastTenthOfTheWindow) {
  clock.Advance(300'000);
  watch.Add(Batch(6'000, LossCause::kTooOld, 0));
  EXPECT_EQ(watch.Look().events_per_s, std::optional(100.0)) << "of the last minute";
  clock.Advance(60'000);
  EXPECT_EQ(watch.Look().events_per_s, std::optional(0.0));
  EXPECT_EQ(watch.Look().events, 6'000u);
}

TEST_F(LossWatchTest, TheNewestEventIsTheGreatestTimeSinceTheStart) {
  LiveReport report = Batch(1, LossCause::kTooOld, 0);
  report.newest = {1'763'700'000'000};
  watch.Add(report);
  report.newest = {1'763'600'000'000};
  watch.Add(report);
  clock.Advance(86'400'000);
  EXPECT_EQ(watch.Look().newest, std::optional(TimeMs{1'763'700'000'000}));
}

TEST_F(LossWatchTest, TimesOf1970AskForTheUnit) {
  LiveReport report = Batch(200, LossCause::kTooOld, 196);
  report.counts.before_1971 = 196;
  watch.Add(report);
  EXPECT_EQ(ShareOf(LossCause::kTooOld).trouble,
            "98% of events are before 1971: is the unit of exposed_at right? 196 of 200 in \"exposures\" are "
            "dropped as too old");
}

TEST_F(LossWatchTest, TimesOfCreationOf1970NameTheirOwnField) {
  LiveReport report = Batch(200, LossCause::kTooOld, 200);
  report.counts.created_before_1971 = 200;
  watch.Add(report);
  EXPECT_TRUE(
      ShareOf(LossCause::kTooOld)
          .trouble.starts_with("100% of events are before 1971: is the unit of item_created_at right?"));
}

TEST_F(LossWatchTest, OldEventsOfOurTimeAreNoMistakeOfTheUnit) {
  LiveReport report = Batch(200, LossCause::kTooOld, 100);
  report.counts.before_1971 = 3;
  watch.Add(report);
  EXPECT_TRUE(ShareOf(LossCause::kTooOld)
                  .trouble.starts_with("50% of events are older than every window and dropped, 100 of 200 in "
                                       "\"exposures\": do producers hold events back?"));
}

TEST_F(LossWatchTest, RejectionsAreNamedByWhatIsRejectedMost) {
  LiveReport report;
  report.counts.events = 2'000;
  for (int i = 0; i < 1'990; ++i)
    report.Rejected({RejectReason::kWrongType, "exposed_at", "exposed_at: a string"});
  for (int i = 0; i < 10; ++i) report.Rejected({RejectReason::kNotJson, "", "not a JSON document"});
  LiveReport before;
  before.Rejected({RejectReason::kWrongType, "exposed_at", "exposed_at: a string, not a number"});
  before.counts.events = 1;
  watch.Add(before);
  watch.Add(report);
  EXPECT_EQ(
      ShareOf(LossCause::kRejected).trouble,
      "events of \"exposures\": 2,001 read, 2,001 rejected (exposed_at: a string, not a number): seenctl "
      "dead-letters");
}

TEST_F(LossWatchTest, TimesAheadAskForTheZoneAndTimesOutOfRangeForTheUnit) {
  const std::pair<RejectReason, std::string> cases[] = {
      {RejectReason::kTooFarAhead, "(ahead; is the producer's time zone or clock wrong?)"},
      {RejectReason::kOutOfRange, "(ahead; is the unit of the time right?)"}};
  for (const auto& [reason, guess] : cases) {
    LossWatch items({.topic = "items", .noun = "items", .causes = {LossCause::kRejected}, .limits = {}},
                    clock);
    LiveReport report;
    report.counts.events = 300;
    for (int i = 0; i < 150; ++i) report.Rejected({reason, "created_at", "ahead"});
    items.Add(report);
    const TopicLoss loss = items.Look();
    ASSERT_EQ(loss.causes.size(), 1u);
    EXPECT_EQ(loss.causes[0].trouble,
              "items of \"items\": 300 read, 150 rejected " + guess + ": seenctl dead-letters");
  }
}

TEST_F(LossWatchTest, MisroutedEventsNameThePartitionerThatFits) {
  LiveReport report = Batch(2'000, LossCause::kMisrouted, 1'499);
  for (int i = 0; i < 64; ++i) {
    const std::string user = "user-" + std::to_string(i);
    report.counts.partitioners.Add(user, user, PartitionOf(Partitioner::kCrc32, user, 4), 4,
                                   Partitioner::kMurmur2);
  }
  watch.Add(report);
  EXPECT_EQ(ShareOf(LossCause::kMisrouted).trouble,
            "74% of events are in another partition than their user's, 1,499 of 2,000 in \"exposures\", so "
            "look-ups miss them: crc32 (librdkafka: Python, kcat) fits the 64 records looked at: set "
            "input.partitioner to \"crc32\"");
}

// --- GuessPartitioner

/// `partition_of` says where user-0 to user-<users - 1> are, of 4 partitions.
std::string GuessOf(int users, const std::function<int32_t(int, const std::string&)>& partition_of,
                    Partitioner configured = Partitioner::kMurmur2, bool is_keyed = true) {
  PartitionerFits fits;
  for (int i = 0; i < users; ++i) {
    const std::string user = "user-" + std::to_string(i);
    fits.Add(user, is_keyed ? user : "session", partition_of(i, user), 4, configured);
  }
  return GuessPartitioner(fits, configured);
}

int32_t By(Partitioner partitioner, const std::string& user) { return PartitionOf(partitioner, user, 4); }

TEST(GuessPartitioner, NamesEachPartitionerUnderEachOther) {
  for (const Partitioner used : kPartitioners) {
    for (const Partitioner configured : kPartitioners) {
      if (used == configured) continue;
      const std::string guess = GuessOf(
          64, [&](int, const std::string& user) { return By(used, user); }, configured);
      EXPECT_TRUE(guess.ends_with("set input.partitioner to \"" + std::string(PartitionerName(used)) + "\""))
          << guess;
    }
  }
}

TEST(GuessPartitioner, SaysSoIfSeveralFit) {
  // One user: the first who is in one partition by crc32 and fnv1a, and in another by murmur2.
  for (int i = 0; i < 1'000; ++i) {
    const std::string user = "user-" + std::to_string(i);
    const int32_t partition = By(Partitioner::kCrc32, user);
    if (partition != By(Partitioner::kFnv1a, user) || partition == By(Partitioner::kMurmur2, user)) continue;
    PartitionerFits fits;
    fits.Add(user, user, partition, 4, Partitioner::kMurmur2);
    EXPECT_EQ(
        GuessPartitioner(fits, Partitioner::kMurmur2),
        "crc32 (librdkafka: Python, kcat) and fnv1a (Sarama and kafka-go) fit the 1 record looked at: set "
        "input.partitioner to the one that the producer uses");
    return;
  }
  FAIL() << "no such user";
}

TEST(GuessPartitioner, SaysSoIfNoneFits) {
  const std::string guess = GuessOf(64, [](int i, const std::string&) { return i % 4; });
  EXPECT_TRUE(
      guess.starts_with("none of murmur2 (Java clients), crc32 (librdkafka: Python, kcat) and fnv1a "
                        "(Sarama and kafka-go) fits the 64 records looked at"))
      << guess;
}

TEST(GuessPartitioner, SeesTwoPartitionersAtOnce) {
  const std::string guess = GuessOf(64, [](int i, const std::string& user) {
    return By(i % 2 == 0 ? Partitioner::kMurmur2 : Partitioner::kCrc32, user);
  });
  EXPECT_EQ(guess,
            "some producers use murmur2 (Java clients), and some crc32 (librdkafka: Python, kcat): have all "
            "producers use one partitioner, or set input.keyed_by_user to false");
}

TEST(GuessPartitioner, SeesKeysThatAreNoUserIds) {
  const std::string guess = GuessOf(
      64, [](int i, const std::string&) { return i % 4; }, Partitioner::kMurmur2, false);
  EXPECT_EQ(guess,
            "the key of 64 of 64 records looked at isn't the user's id: key the events by user id, or set "
            "input.keyed_by_user to false");
}

TEST(GuessPartitioner, IgnoresFewRecordsOfTheDaemonItself) {
  const std::string guess = GuessOf(64, [](int i, const std::string& user) {
    return By(i < 2 ? Partitioner::kMurmur2 : Partitioner::kCrc32, user);
  });
  EXPECT_TRUE(guess.ends_with("set input.partitioner to \"crc32\"")) << guess;
}

}  // namespace
}  // namespace seen
