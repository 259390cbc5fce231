#include "flow/partition_flow.h"

#include <functional>

#include "model/hashes.h"
#include "unit/flow/flow_fixture.h"

namespace seen {
namespace {

class PartitionFlowTest : public test::FlowTest {
 protected:
  void Open(int64_t high = 0, int64_t start = 0, PartitionOptions options = {}) {
    options.filters = {{0, "default", window_days, 10'000, {}, SnapshotPolicy{}}};
    OpenFlow(options, start, high);
  }
  Result<size_t> Send(std::string value, int64_t timestamp_ms = kNow) {
    return SendNext(std::move(value), timestamp_ms);
  }
  static std::string Exposed(std::string_view item, int64_t exposed_at_ms = kNow,
                             std::string_view user = "u1") {
    return R"({"user_id":")" + std::string(user) + R"(","item_id":")" + std::string(item) +
           R"(","exposed_at":)" + std::to_string(exposed_at_ms) + "}";
  }

  int32_t window_days = 30;
};

TEST_F(PartitionFlowTest, AnExposureIsSeenAtOnceInTheTailThenFrozenThenStored) {
  Open();
  ASSERT_EQ(Send(Exposed("a")), size_t{1});
  EXPECT_TRUE(Seen("a"));
  EXPECT_FALSE(Seen("b"));
  flow->intake.Freeze();
  ASSERT_TRUE(Send(Exposed("b")));
  EXPECT_TRUE(Seen("a"));
  ASSERT_TRUE(flow->checkpoint.Write());
  EXPECT_TRUE(Seen("a"));
  EXPECT_TRUE(Seen("b"));
  EXPECT_EQ(durable.position->next_offset, 1);
}

TEST_F(PartitionFlowTest, BytesExpireWhenKafkasTimeHasPassedTheWindowToo) {
  Open();
  ASSERT_TRUE(Send(Exposed("a")));
  Checkpoint();
  clock.SetWall(kNow + 40 * kMsPerDay);
  ASSERT_TRUE(Send(Exposed("b", kNow + 40 * kMsPerDay), kNow + 40 * kMsPerDay));
  Checkpoint();
  const auto delta = sim::ReadDecoded(flow->reader, 0, UserKeyOf("u1"));
  ASSERT_EQ(delta->segments.size(), 1u);
  EXPECT_EQ(delta->segments[0].day, DayOf({kNow + 40 * kMsPerDay}));
}

TEST_F(PartitionFlowTest, UnacknowledgedDeadLettersHoldTheOffsetBackButNotTheState) {
  Open();
  ASSERT_TRUE(Send(Exposed("a")));
  ASSERT_TRUE(Send("{"));
  ASSERT_TRUE(Send(Exposed("b")));
  flow->intake.Freeze();
  EXPECT_TRUE(flow->checkpoint.AwaitsDeadLetters());
  clock.Advance(6'000);
  EXPECT_FALSE(flow->checkpoint.AwaitsDeadLetters());
  ASSERT_EQ(flow->checkpoint.Write(), int64_t{1});
  EXPECT_EQ(durable.position->next_offset, 1);
  EXPECT_EQ(durable.position->anchor.offset, 1);
  // The flow reads again from there. It sends the letter again, and nothing else changes.
  dead_letters.Crash();
  Open(3);
  EXPECT_EQ(flow->intake.ReadFrom(0), 1);
  EXPECT_TRUE(Seen("b"));
  next = 1;
  ASSERT_TRUE(Send("{"));
  ASSERT_TRUE(Send(Exposed("b")));
  dead_letters.DeliverAll();
  Checkpoint();
  EXPECT_EQ(durable.position->next_offset, 3);
  EXPECT_TRUE(dead_letters.topic.contains(1));
}

TEST_F(PartitionFlowTest, ReadsItsLastRecordAgainAndRefusesAnotherOneInItsPlace) {
  Open();
  ASSERT_TRUE(Send(Exposed("a")));
  ASSERT_TRUE(Send(Exposed("b")));
  Checkpoint();
  Open(2);
  EXPECT_EQ(flow->intake.ReadFrom(0), 1);
  next = 1;
  ASSERT_EQ(Send(Exposed("b")), size_t{1});
  ASSERT_EQ(Send(Exposed("c")), size_t{1});
  EXPECT_TRUE(Seen("c"));

  Open(2);
  (void)flow->intake.ReadFrom(0);
  next = 1;
  const auto other = Send(Exposed("x"));
  ASSERT_FALSE(other.has_value());
  EXPECT_EQ(other.error().code, Code::kRefused);
  EXPECT_NE(other.error().message.find("--rebuild"), std::string::npos);

  Open(2);
  (void)flow->intake.ReadFrom(0);
  next = 1;
  EXPECT_FALSE(Send(Exposed("b"), kNow + 1).has_value()) << "the same bytes at another time";
}

TEST_F(PartitionFlowTest, ALostRangeIsKeptInTheStoreUntilAcknowledged) {
  Open();
  ASSERT_TRUE(Send(Exposed("a")));
  Checkpoint();
  Open(100);
  flow->intake.SkipLost(50);
  EXPECT_EQ(flow->intake.ReadFrom(50), 50);
  next = 50;
  ASSERT_TRUE(Send(Exposed("b")));
  Checkpoint();
  Open(100);
  ASSERT_EQ(flow->GetStatus().lost_ranges.size(), 1u);
  EXPECT_EQ(flow->GetStatus().lost_ranges[0].from, 1);
  EXPECT_EQ(flow->GetStatus().lost_ranges[0].to, 50);
  flow->state.AcknowledgeLostRanges();
  EXPECT_TRUE(flow->intake.HasChanges());
  next = 50;
  ASSERT_TRUE(Send(Exposed("b")));
  Checkpoint();
  EXPECT_TRUE(durable.position->lost_ranges.empty());
}

TEST_F(PartitionFlowTest, AfterALostRangeSnapshotsAndStatusSaySinceWhenTheyAreComplete) {
  const auto since_of = [&] {
    PublishFlow::Rendering rendering;
    rendering.user = UserKeyOf("u1");
    EXPECT_TRUE(flow->reader.RenderUsers(clock.WallNow(), 0, {&rendering, 1}));
    const auto view = SnapshotView::Parse(rendering.bytes);
    EXPECT_TRUE(view);
    const auto status = flow->GetStatus().filters.at(0).complete_since;
    EXPECT_EQ(view->meta().complete_since, status);
    EXPECT_EQ(flow->state.GetAsOf(0, clock.Now(), clock.WallNow()).complete_since, status);
    return status;
  };
  Open();
  ASSERT_TRUE(Send(Exposed("a")));
  EXPECT_EQ(since_of(), std::nullopt);
  Checkpoint();
  flow->intake.SkipLost(50);
  EXPECT_EQ(since_of(), std::optional(clock.WallNow())) << "nothing was read behind it";
  next = 50;
  ASSERT_TRUE(Send(Exposed("b"), kNow + 5'000));
  EXPECT_EQ(since_of(), std::optional(TimeMs{kNow + 5'000}));
  flow->state.AcknowledgeLostRanges();
  EXPECT_NE(since_of(), std::nullopt) << "who knows of the range doesn't make the filter whole";
  Checkpoint();
  Open(100);
  EXPECT_EQ(since_of(), std::optional(TimeMs{kNow + 5'000}));
  clock.Advance(30 * kMsPerDay + 5'000);
  EXPECT_EQ(flow->GetStatus().filters.at(0).complete_since, std::nullopt) << "the window has passed";
}

TEST_F(PartitionFlowTest, ABogusTimestampBehindALostRangeDoesntMakeTheFilterWhole) {
  Open();
  ASSERT_TRUE(Send(Exposed("a")));
  flow->intake.SkipLost(50);
  next = 50;
  ASSERT_TRUE(Send(Exposed("b"), kNow + 365 * kMsPerDay));
  EXPECT_EQ(flow->GetStatus().filters.at(0).complete_since, std::optional(clock.WallNow())) << "years ahead";
}

TEST_F(PartitionFlowTest, MisroutedEventsAreTakenCountedAndNamed) {
  PartitionOptions options;
  options.partition_count = 4;
  options.partition = (PartitionOf(Partitioner::kMurmur2, "u1", 4) + 1) % 4;
  Open(0, 0, options);
  ASSERT_TRUE(Send(Exposed("a")));
  EXPECT_EQ(flow->GetStatus().misrouted, 1u);
  EXPECT_EQ(flow->GetStatus().misrouted_last.expected_partition, PartitionOf(Partitioner::kMurmur2, "u1", 4));
  EXPECT_TRUE(Seen("a"));
}

TEST_F(PartitionFlowTest, AFullTailTakesNothingMoreUntilItIsFrozen) {
  PartitionOptions options;
  options.tail_bytes_max = 200'000;
  Open(0, 0, options);
  size_t taken = 1;
  for (int i = 0; i < 100'000 && taken == 1; ++i) taken = *Send(Exposed("n" + std::to_string(i)));
  ASSERT_EQ(taken, 0u);
  EXPECT_EQ(flow->intake.HeldBy(), HoldReason::kTailFull);
  EXPECT_TRUE(flow->intake.CheckpointDue());
  level0_files = 17;
  EXPECT_FALSE(flow->intake.CheckpointDue());
  EXPECT_EQ(flow->intake.HeldBy(), HoldReason::kLevel0Files);
  level0_files = 1;
  flow->intake.Freeze();
  --next;
  EXPECT_EQ(Send(Exposed("again")), size_t{1});
}

TEST_F(PartitionFlowTest, CatchesUpWithTheEndItFoundAndFollowsOffsetsWithoutRecords) {
  Open(3);
  EXPECT_FALSE(flow->state.CaughtUp());
  ASSERT_TRUE(Send(Exposed("a")));
  EXPECT_FALSE(flow->state.CaughtUp());
  flow->intake.ReachedEnd(3);  // the rest were transaction markers
  EXPECT_TRUE(flow->state.CaughtUp());
  EXPECT_EQ(flow->state.next_offset(), 3);
  EXPECT_EQ(flow->state.LagMessages(), 0);
}

// Asks somebody each time when it is asked, also in the middle of a batch.
class AskingClock final : public Clock {
 public:
  explicit AskingClock(const Clock& clock) : clock_(clock) {}
  TimeMs WallNow() const override {
    if (ask) ask();
    return clock_.WallNow();
  }
  Instant Now() const override { return clock_.Now(); }
  std::function<void()> ask;

 private:
  const Clock& clock_;
};

TEST_F(PartitionFlowTest, WhoReadsAnOffsetInTheMiddleOfABatchFindsItsUsersOutstanding) {
  PartitionOptions options;
  options.filters = {{0, "default", window_days, 10'000, {}, SnapshotPolicy{}}};
  AskingClock asking(clock);
  OpenFlow(options, 0, 0, asking);
  int within = 0;
  asking.ask = [&] {
    if (flow->state.next_offset() == 0) return;
    ++within;
    EXPECT_GT(flow->publish.Outstanding(), 0u);
  };
  ASSERT_TRUE(Send(Exposed("a")));
  EXPECT_GT(within, 0);
}

TEST_F(PartitionFlowTest, UsersWhoAreLeftToMarksAreOutstandingBeforeTheCheckpointToo) {
  PartitionOptions options;
  options.behind_lag_messages = -1;
  options.behind_age = std::chrono::milliseconds(-1);
  Open(0, 0, options);
  const uint64_t before = flow->publish.Outstanding();
  ASSERT_TRUE(Send(Exposed("a")));
  ASSERT_TRUE(Send(Exposed("b")));
  ASSERT_TRUE(Send(Exposed("a", kNow, "u2")));
  EXPECT_EQ(flow->publish.Outstanding(), before + 2) << "two users";
  flow->intake.Freeze();
  EXPECT_EQ(flow->publish.Outstanding(), before + 2);
  ASSERT_TRUE(flow->checkpoint.Write());
  EXPECT_GE(flow->publish.Outstanding(), 2u) << "by their marks";
}

TEST_F(PartitionFlowTest, AFailedCheckpointChangesNothingAndSucceedsLater) {
  Open();
  ASSERT_TRUE(Send(Exposed("a")));
  flow->intake.Freeze();
  for (const auto injected : {sim::StoreFault::kBeginFails, sim::StoreFault::kAddFails,
                              sim::StoreFault::kCommitFails, sim::StoreFault::kNoSpace}) {
    fault = injected;
    EXPECT_FALSE(flow->checkpoint.Write().has_value());
    EXPECT_FALSE(durable.position.has_value());
    EXPECT_TRUE(Seen("a"));
    EXPECT_EQ(flow->GetStatus().state, "held");
  }
  ASSERT_TRUE(flow->checkpoint.Write().has_value());
  EXPECT_EQ(flow->GetStatus().state, "ready");
  EXPECT_EQ(durable.position->anchor.hash, RecordHash("u1", record_values.back()));
}

TEST_F(PartitionFlowTest, AfterAFailureOneCheckpointIsEnoughIfNothingIsPublished) {
  PartitionOptions options;
  options.filters = {{0, "default", window_days, 10'000, {}, std::nullopt}};
  OpenFlow(options);
  ASSERT_TRUE(Send(Exposed("a")));
  flow->intake.Freeze();
  fault = sim::StoreFault::kCommitFails;
  ASSERT_FALSE(flow->checkpoint.Write());
  ASSERT_TRUE(flow->checkpoint.Write());
  EXPECT_FALSE(flow->intake.HasChanges()) << "an idle partition writes no checkpoints";
}

}  // namespace
}  // namespace seen
