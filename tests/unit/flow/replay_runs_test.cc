// Histories that are replayed beside live events: what is published, when, and what is counted.
#include "flow/replay_runs.h"

#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

using test::TimedTest;

constexpr ReplayNote kOld{ReplayNote::Kind::kRecord, false, "run-1"};
constexpr ReplayNote kOldLive{ReplayNote::Kind::kRecord, true, "run-2"};
constexpr ReplayNote kBegin{ReplayNote::Kind::kBegin, false, "run-1"};
constexpr ReplayNote kEnd{ReplayNote::Kind::kEnd, false, "run-1"};

class ReplayTest : public TimedTest {
 protected:
  void ReplayEvent(std::string_view item, std::string_view user = "u1", const ReplayNote& note = kOld) {
    Replay(Event("exposed", item, kNow - kMsPerDay, user), note, kNow - kMsPerDay);
  }
};

TEST_F(ReplayTest, UsersThatOnlyHistoryTouchesArePublishedOnceWhenTheRunEnds) {
  Open();
  Publish();
  Replay("", kBegin);
  for (int i = 0; i < 5; ++i) {
    ReplayEvent("old-" + std::to_string(i));
    Publish();
    Checkpoint();
    Publish();
  }
  EXPECT_TRUE(Seen("old-0")) << "answers know at once";
  EXPECT_FALSE(HasSnapshot());
  EXPECT_EQ(flow->GetStatus().replays, std::vector<std::string>{"run-1"});
  const uint64_t before = topic.sent_total;
  Replay("", kEnd);
  EXPECT_TRUE(flow->GetStatus().replays.empty());
  Publish();
  EXPECT_TRUE(Published("old-0") && Published("old-4"));
  EXPECT_EQ(topic.sent_total, before + 1);
  EXPECT_EQ(reporter.replayed, 5u);
  EXPECT_EQ(reporter.rejected, 0u) << "marks are no events";
}

TEST_F(ReplayTest, AnEndMakesACheckpointDueForWhatIsNotWrittenYet) {
  Open();
  Publish();
  Checkpoint();
  ReplayEvent("old");
  EXPECT_FALSE(flow->intake.CheckpointDue());
  Replay("", kEnd);
  EXPECT_TRUE(flow->intake.CheckpointDue());
  Checkpoint();
  Publish();
  EXPECT_TRUE(Published("old"));
}

TEST_F(ReplayTest, LiveEventsArePublishedAtOnceAlsoOfUsersWithHistory) {
  options.behind_age = std::chrono::milliseconds(-1);
  Open();
  Publish();
  ReplayEvent("old");
  FallBehind();  // because of the history
  Send(Event("exposed", "live", kNow));
  Send(Event("exposed", "other", kNow, "u2"));
  Publish();
  EXPECT_TRUE(Published("live") && Published("old")) << "the snapshot has all that is known";
  EXPECT_TRUE(Published("other", "u2"));
}

TEST_F(ReplayTest, AUserWithBothIsPublishedWithTheLiveEventAndOnceMoreAtTheEnd) {
  Open();
  Publish();
  Replay("", kBegin);
  for (int i = 0; i < 4; ++i) {
    Send(Event("exposed", "live-" + std::to_string(i), kNow));
    publisher->Step();
    const uint64_t before = topic.sent_total;
    for (int k = 0; k < 3; ++k) {  // the live event's snapshot is due, in flight or acknowledged
      ReplayEvent("old-" + std::to_string(3 * i + k));
      Checkpoint();
      publisher->Step();
    }
    EXPECT_LE(topic.sent_total, before + 1);
    Publish();
    EXPECT_TRUE(Published("live-" + std::to_string(i)));
  }
  ReplayEvent("old-last");
  Checkpoint();
  Publish();
  Replay("", kEnd);
  Publish();
  EXPECT_TRUE(Published("old-last") && Published("old-0"));
  Checkpoint();
  Publish();
  EXPECT_TRUE(durable.marks.empty()) << "nothing is left to publish";
}

TEST_F(ReplayTest, AFirstCheckpointWithinTheRunPublishesNothingOfIt) {
  Open();  // a new store: its publisher has done nothing yet
  ReplayEvent("old");
  Checkpoint();
  Publish();
  EXPECT_FALSE(HasSnapshot());
  Replay("", kEnd);
  Publish();
  EXPECT_TRUE(Published("old"));
}

TEST_F(ReplayTest, LiveEventsThatFindNoRoomInMemoryDontWaitForTheRun) {
  options.publish_entries_max = 1;
  Open();
  Publish();
  ReplayEvent("old", "only-history");
  for (int i = 0; i < 20; ++i) Send(Event("exposed", "live", kNow, "live-" + std::to_string(i)));
  Checkpoint();
  Publish(40);
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(Published("live", "live-" + std::to_string(i))) << i;
}

TEST_F(ReplayTest, ARunOfWhichNothingComesCountsAsEnded) {
  Open();
  Publish();
  ReplayEvent("old");
  Checkpoint();
  clock.Advance(options.replay_idle.count() - 5'000);
  flow->intake.EndIdleReplays();
  Publish(2);
  EXPECT_FALSE(HasSnapshot());
  clock.Advance(10'000);
  flow->intake.EndIdleReplays();
  Publish();
  EXPECT_TRUE(Published("old"));
  ReplayEvent("older");  // the run goes on
  Checkpoint();
  Publish();
  EXPECT_FALSE(Published("older"));
}

TEST_F(ReplayTest, ARunThatPublishesLiveHoldsNothing) {
  Open();
  Publish();
  ReplayEvent("old", "u1", kOldLive);
  Publish();
  EXPECT_TRUE(Published("old"));
  EXPECT_EQ(reporter.replayed, 1u);
}

TEST_F(ReplayTest, ARestartWithinTheRunPublishesWhatIsMarkedAndHoldsWhatComes) {
  Open();
  Publish();
  Replay("", kBegin);
  ReplayEvent("old");
  Checkpoint();
  Open();
  Publish();
  EXPECT_TRUE(Published("old")) << "a restart publishes what is marked";
  ReplayEvent("next");  // the begin mark isn't read again
  Checkpoint();
  Publish();
  EXPECT_FALSE(Published("next"));
  Replay("", kEnd);
  Publish();
  EXPECT_TRUE(Published("old") && Published("next"));
}

TEST_F(ReplayTest, ASecondRunHoldsWhatTheFirstHasEnded) {
  Open();
  Publish();
  ReplayEvent("a", "u1");
  ReplayEvent("b", "u2", {ReplayNote::Kind::kRecord, false, "run-3"});
  Replay("", kEnd);
  Checkpoint();
  Publish();
  EXPECT_FALSE(HasSnapshot("u1"));
  Replay("", {ReplayNote::Kind::kEnd, false, "run-3"});
  Publish();
  EXPECT_TRUE(Published("a", "u1") && Published("b", "u2"));
}

TEST_F(ReplayTest, HistoryHasNoLatency) {
  Open();
  ReplayEvent("old");
  EXPECT_EQ(reporter.latencies, 0u);
  Send(Event("exposed", "live", kNow));
  EXPECT_EQ(reporter.latencies, 2u) << "from the record, and from the exposure";
}

TEST(ReplayRuns, FollowsABoundedNumber) {
  ReplayRuns runs(std::chrono::seconds(60));
  for (size_t i = 0; i < 2 * ReplayRuns::kRunsMax; ++i) {
    const std::string name = std::to_string(i);
    const ReplayNote note{ReplayNote::Kind::kRecord, false, name};
    runs.Note(note, Instant());
    EXPECT_EQ(runs.Defers(note), i < ReplayRuns::kRunsMax);
  }
  EXPECT_EQ(runs.Names().size(), ReplayRuns::kRunsMax);
  runs.EndIdle(Instant() + std::chrono::seconds(61));
  EXPECT_FALSE(runs.holds());
}

}  // namespace
}  // namespace seen
