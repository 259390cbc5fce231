#include "consume/exposures_handler.h"

#include <gtest/gtest.h>

#include <thread>

#include "consume/topic_consumer.h"
#include "flow/partition_flow.h"
#include "model/day.h"
#include "support/fake_binary_format.h"
#include "support/fake_group_log.h"
#include "support/fake_stores.h"

namespace seen {
namespace {
using namespace std::chrono_literals;

class NoWait final : public ConsumerWait {
 public:
  void WaitForSpace(std::chrono::milliseconds) override {
    if (on_wait) on_wait();
  }
  std::function<void()> on_wait;
};

class ExposuresTakerTest : public testing::Test {
 protected:
  void Start(bool rebuild = false, int32_t partitions_of_users = 0) {
    runner_.reset();
    ExposuresHandler::Options options;
    options.directory = "/var/lib/seen";
    options.window_days_max = 30;
    options.partitions_of_users = partitions_of_users;
    options.rebuild = rebuild;
    options.ready_elsewhere = ready_elsewhere_;
    options.owns = [this] { return owns_; };
    options.on_taken = [this] { ++wakes_; };
    handler_ = std::make_unique<ExposuresHandler>(options, stores_, letters_, reporter_, clock_);
    TopicConsumer::Options run;
    run.topic = "t";
    run.rebuild = rebuild;
    runner_ = std::make_unique<TopicConsumer>(run, *handler_, wait_, clock_);
    log_ = std::make_unique<sim::FakeGroupLog>(topic_, *runner_, 1);
    runner_->SetLog(*log_);
    log_->Assign({0, 1});
    Steps();
  }
  void Steps() {
    for (int i = 0; i < 20; ++i) {
      ASSERT_TRUE(runner_->StepControl(0ms));
      runner_->StepWorker(0, 0ms);
      (void)handler_->Checkpoint();
      clock_.Advance(200);
    }
  }
  /// Appends `count` exposures from `days` days ago.
  void Fill(int32_t partition, int count, int64_t days = 0) {
    const int64_t at = clock_.WallNow().value - days * kMsPerDay;
    for (int i = 0; i < count; ++i) {
      topic_.Append(partition, {{at},
                                "u",
                                R"({"user_id":"u","item_id":"i)" + std::to_string(i) + R"(","exposed_at":)" +
                                    std::to_string(at) + "}"});
    }
  }
  int64_t Next(int32_t partition) const {
    const PartitionPointer open = handler_->open().Find(partition);
    return open ? open->flow->state.next_offset() : -1;
  }

  std::function<bool(int32_t, Instant)> ready_elsewhere_;
  bool owns_ = true;
  int wakes_ = 0;  // how often the publisher was woken
  std::mt19937_64 random_{1};
  sim::VirtualClock clock_;
  NoWait wait_;
  sim::FakeTopic topic_{2};
  sim::FakeStores stores_;
  sim::FakeDeadLetters letters_{random_};
  sim::CountingReporter reporter_;
  std::unique_ptr<ExposuresHandler> handler_;
  std::unique_ptr<TopicConsumer> runner_;
  std::unique_ptr<sim::FakeGroupLog> log_;
};

TEST_F(ExposuresTakerTest, CommitsWhatIsInTheStoreAndGoesOnFromThere) {
  topic_.on_commit = [&](int32_t partition, int64_t offset) {
    EXPECT_LE(offset, stores_.disks[partition].position->next_offset) << "committed before it was durable";
  };
  Fill(0, 10);
  Start();
  EXPECT_EQ(topic_.committed(0), 10);
  Fill(0, 5);
  runner_->StepWorker(0, 0ms);
  runner_->Close(0ms);
  EXPECT_EQ(topic_.committed(0), 15) << "with a last checkpoint";
  Fill(0, 1);
  Start();
  EXPECT_EQ(Next(0), 16);
}

TEST_F(ExposuresTakerTest, WakesThePublisherForACheckpointAndForAnotherOwner) {
  Fill(0, 10);
  Start();
  Fill(0, 1);
  runner_->StepWorker(0, 0ms);
  PartitionFlow& flow = *handler_->open().Find(0)->flow;
  if (!flow.state.HasFrozen()) flow.intake.Freeze();
  wakes_ = 0;
  (void)handler_->Checkpoint();
  EXPECT_EQ(wakes_, 1) << "snapshots may have waited for it";
  ASSERT_TRUE(runner_->StepControl(0ms));
  EXPECT_EQ(wakes_, 1);
  owns_ = false;
  ASSERT_TRUE(runner_->StepControl(0ms));
  EXPECT_EQ(wakes_, 2) << "beats go elsewhere from here on";
}

TEST_F(ExposuresTakerTest, AHoldHasTheReasonThatHoldsNow) {
  bool is_known = false;
  stores_.plan = sim::FakeBinaryFormat::PlanBy(
      [&](uint32_t) { return is_known ? std::nullopt : std::optional(RejectReason::kSchemaPending); });
  Start();
  const PartitionPointer open = handler_->open().Find(0);
  topic_.Append(0, {clock_.WallNow(), "u",
                    sim::FakeBinaryFormat::Framed(7, R"({"user_id":"u","item_id":"i","exposed_at":)" +
                                                         std::to_string(clock_.WallNow().value) + "}")});
  std::vector<HoldReason> reasons;
  int64_t since = 0;
  wait_.on_wait = [&] {
    reasons.push_back(open->held_reason.load());
    if (reasons.size() == 1) since = open->held_since_ms.load();
    EXPECT_EQ(open->held_since_ms.load(), since) << "it is one hold";
    clock_.Advance(20);
    open->disk_full.store(reasons.size() == 1);
    is_known = reasons.size() == 3;
  };
  runner_->StepWorker(0, 0ms);
  EXPECT_EQ(reasons, (std::vector{HoldReason::kSchema, HoldReason::kDiskFull, HoldReason::kSchema}));
  EXPECT_EQ(open->held_since_ms.load(), 0);
  EXPECT_EQ(Next(0), 1);
}

TEST_F(ExposuresTakerTest, MissingStateIsReadAgainAndWhatTheTopicNoLongerHoldsIsLost) {
  struct Case {
    const char* topic;
    int64_t oldest_days;  // age of the record at the low watermark
    int64_t low;
    bool emptied;  // the folder exists, but is empty
    int64_t lost;  // the records below this offset
  };
  for (const auto& [topic, oldest_days, low, emptied, lost_to] :
       {Case{"nothing was deleted", 5, 0, false, 0}, Case{"an emptied folder", 5, 0, true, 0},
        Case{"records older than the window are left", 40, 3, false, 0},
        Case{"the window was deleted in part", 20, 3, false, 3},
        Case{"an emptied folder, and the window deleted in part", 20, 3, true, 3}}) {
    SCOPED_TRACE(topic);
    topic_.Recreate(0);
    stores_.disks.clear();
    Fill(0, 10, oldest_days);
    Fill(0, 10);
    topic_.DeleteTo(0, low);
    topic_.SetCommitted(0, 18);
    if (emptied) stores_.disks[0] = {};
    Start();
    EXPECT_EQ(Next(0), 20);
    EXPECT_EQ(Next(1), topic_.watermarks(1).high) << "the other one goes on";
    EXPECT_EQ(handler_->open().RefusalOf(0), "");
    EXPECT_EQ(topic_.committed(0), 20);
    const PartitionStatus status = handler_->open().Find(0)->flow->GetStatus();
    ASSERT_EQ(status.lost_ranges.size(), lost_to > 0 ? 1u : 0u);
    if (lost_to > 0) {
      EXPECT_EQ(status.lost_ranges[0].from, 0);
      EXPECT_EQ(status.lost_ranges[0].to, lost_to);
    }
    EXPECT_EQ(status.filters[0].complete_since.has_value(), lost_to > 0);
    runner_->Close(0ms);
  }
}

TEST_F(ExposuresTakerTest, WithRebuildMissingStateIsReadFromWhatThereIs) {
  Fill(0, 10, 20);
  topic_.DeleteTo(0, 3);
  topic_.SetCommitted(0, 8);
  Start(true);
  EXPECT_EQ(Next(0), 10);
  EXPECT_EQ(handler_->open().RefusalOf(0), "");
}

TEST_F(ExposuresTakerTest, WithRebuildWhatRetentionHasDeletedCountsAsLost) {
  Fill(0, 10, 20);
  topic_.DeleteTo(0, 3);
  topic_.SetCommitted(0, 8);
  Start(true);
  const auto lost = handler_->open().Find(0)->flow->GetStatus().lost_ranges;
  ASSERT_EQ(lost.size(), 1u);
  EXPECT_EQ(lost[0].from, 0);
  EXPECT_EQ(lost[0].to, 3);
  EXPECT_EQ(reporter_.ranges_lost, 1u);
  const auto since = handler_->open().Find(0)->flow->GetStatus().filters[0].complete_since;
  ASSERT_TRUE(since.has_value());
  EXPECT_EQ(DayOf(*since), DayOf(clock_.WallNow()) - 20);
}

TEST_F(ExposuresTakerTest, ANewGroupOnAnOldTopicHasLostNothing) {
  Fill(0, 10, 20);
  topic_.DeleteTo(0, 3);
  Start();
  EXPECT_EQ(Next(0), 10);
  EXPECT_EQ(reporter_.ranges_lost, 0u);
}

TEST_F(ExposuresTakerTest, APartitionThatIsLostAnswersUntilTheGroupHasDecided) {
  Fill(0, 10);
  Fill(1, 10);
  Start();
  log_->Revoke({0, 1}, true);
  Steps();
  ASSERT_EQ(Next(0), 10);
  EXPECT_FALSE(handler_->open().Find(0)->assigned.load());
  Fill(0, 5);
  Steps();
  EXPECT_EQ(Next(0), 10) << "nothing is read of what isn't assigned";
  log_->Assign({0});
  Steps();
  EXPECT_EQ(Next(0), 15);
  EXPECT_TRUE(handler_->open().Find(0)->assigned.load());
  EXPECT_EQ(Next(1), -1) << "it went to another daemon";
}

TEST_F(ExposuresTakerTest, APartitionThatIsRevokedInOrderIsClosed) {
  Fill(0, 10);
  Start();
  log_->Revoke({0}, false);
  Steps();
  EXPECT_EQ(Next(0), -1);
}

TEST_F(ExposuresTakerTest, ARebalanceClosesNoPartitionThatComesBack) {
  Fill(0, 10);
  Start();
  const PartitionPointer before = handler_->open().Find(0);
  const uint64_t tag = before->ticket_tag;
  log_->Revoke({0, 1}, false);
  ASSERT_TRUE(runner_->StepControl(0ms));
  EXPECT_FALSE(before->assigned.load());
  EXPECT_EQ(handler_->open().Find(0), before) << "it answers meanwhile";
  Fill(0, 5);
  log_->Assign({0});
  Steps();
  EXPECT_EQ(handler_->open().Find(0), before);
  EXPECT_EQ(before->ticket_tag, tag) << "what is on its way is acknowledged";
  EXPECT_TRUE(before->assigned.load());
  EXPECT_EQ(Next(0), 15);
  EXPECT_EQ(topic_.committed(0), 15);
}

TEST_F(ExposuresTakerTest, APartitionThatAnotherMemberReadFurtherIsOpenedAnew) {
  Fill(0, 10);
  Start();
  const std::weak_ptr<OpenPartition> before = handler_->open().Find(0);
  log_->Revoke({0, 1}, false);
  ASSERT_TRUE(runner_->StepControl(0ms));
  Fill(0, 5);
  topic_.SetCommitted(0, 13);
  log_->Assign({0});
  Steps();
  EXPECT_TRUE(before.expired());
  EXPECT_EQ(Next(0), 15);
}

TEST_F(ExposuresTakerTest, APartitionIsOpenedAnewOnlyAfterItsLastReaderHasClosedIt) {
  Start();
  PartitionPointer before = handler_->open().Find(0);
  log_->Revoke({0, 1}, false);
  ASSERT_TRUE(runner_->StepControl(0ms));
  Fill(0, 15);
  topic_.SetCommitted(0, 13);
  stores_.on_closing = [](int32_t) { std::this_thread::sleep_for(200ms); };
  std::thread reader([held = std::move(before)]() mutable {
    std::this_thread::sleep_for(50ms);
    held.reset();
  });
  log_->Assign({0});
  ASSERT_TRUE(runner_->StepControl(0ms));
  EXPECT_TRUE(runner_->Problems().empty()) << runner_->Problems().at(0).reason;
  reader.join();
  Steps();
  EXPECT_EQ(Next(0), 15);
}

TEST_F(ExposuresTakerTest, APartitionThatMovesAnswersUntilItsNewOwnerDoes) {
  bool is_ready = false;
  Instant asked_since;
  ready_elsewhere_ = [&](int32_t partition, Instant since) {
    asked_since = since;
    return partition == 0 && is_ready;
  };
  Fill(0, 10);
  Start();
  const Instant revoked_at = clock_.Now();
  log_->Revoke({0, 1}, false);
  log_->Assign({1});
  Steps();
  EXPECT_EQ(Next(0), 10) << "nobody else answers yet";
  EXPECT_GE(asked_since, revoked_at);
  is_ready = true;
  Steps();
  EXPECT_EQ(Next(0), -1);
  is_ready = false;
  log_->Revoke({1}, false);
  Steps();
  EXPECT_EQ(Next(1), 0);
  clock_.Advance(11 * 60'000);
  Steps();
  EXPECT_EQ(Next(1), -1) << "not for ever";
}

TEST_F(ExposuresTakerTest, ADaemonThatIsLeftWithoutPartitionsClosesThemOnceTheirNewOwnerAnswers) {
  ready_elsewhere_ = [](int32_t partition, Instant) { return partition == 0; };
  Fill(0, 10);
  Start();
  log_->Revoke({0, 1}, false);
  Steps();
  EXPECT_EQ(Next(0), -1) << "its old copy would answer, although another daemon knows more";
  EXPECT_EQ(Next(1), 0);
}

TEST_F(ExposuresTakerTest, ACorruptStoreStopsItsPartitionAndRebuildDropsIt) {
  Fill(0, 10);
  Fill(1, 10);
  Start();
  runner_->Close(0ms);
  stores_.open_fails[0] = {Code::kCorrupt, "partition-0: MANIFEST is cut"};
  Start();
  EXPECT_EQ(Next(0), -1);
  EXPECT_EQ(handler_->open().RefusalOf(0), "partition-0: MANIFEST is cut");
  EXPECT_EQ(runner_->Problems().at(0).kind, PartitionProblem::Kind::kStopped);
  Fill(1, 10);
  Steps();
  EXPECT_EQ(Next(1), 20);
  runner_->Close(0ms);
  Start(true);
  EXPECT_EQ(Next(0), 10);
}

TEST_F(ExposuresTakerTest, StateThatAnotherThreadFindsCorruptStopsItsPartition) {
  Fill(0, 10);
  Start();
  handler_->open().Find(1)->Stop("a block's checksum is wrong");
  Fill(1, 10);
  Fill(0, 10);
  Steps();
  EXPECT_EQ(Next(0), 20);
  EXPECT_EQ(handler_->open().Find(1), nullptr);
  EXPECT_EQ(handler_->open().RefusalOf(1), "a block's checksum is wrong");
}

TEST_F(ExposuresTakerTest, WithoutSpaceAtOpeningItTriesAgain) {
  Fill(0, 10);
  stores_.open_fails[0] = {Code::kNoSpace, "no space left on device"};
  Start();
  EXPECT_EQ(runner_->Problems().at(0).kind, PartitionProblem::Kind::kOpening);
  EXPECT_EQ(runner_->Problems().at(0).reason, "no space left on device");
  EXPECT_EQ(Next(1), 0);
  stores_.open_fails.clear();
  Steps();
  EXPECT_EQ(Next(0), 10);
  EXPECT_TRUE(runner_->Problems().empty());
}

TEST_F(ExposuresTakerTest, AddedPartitionsAreRefusedWhileUsersAreMappedToTheOldOnes) {
  Fill(0, 10);
  Fill(1, 10);
  Start(false, 1);
  EXPECT_EQ(Next(0), 10);
  EXPECT_EQ(handler_->open().Find(0)->flow->state.options().partition_count, 1);
  EXPECT_EQ(Next(1), -1);
  EXPECT_NE(handler_->open().RefusalOf(1).find("reshard"), std::string::npos);
  EXPECT_FALSE(stores_.disks.contains(1));
}

TEST_F(ExposuresTakerTest, ABatchWakesThePublisherOnlyIfItMakesSnapshotsDue) {
  const auto take = [&] {
    const int before = wakes_;
    for (int i = 0; i < 3; ++i) {
      ASSERT_TRUE(runner_->StepControl(0ms));
      runner_->StepWorker(0, 0ms);
    }
    wakes_ -= before;
  };
  EventFormat format;
  format.wanted.kind = true;
  stores_.plan = *EventPlan::Make(format);
  stores_.snapshot = SnapshotPolicy{};
  Start();
  Fill(1, 10);
  take();
  EXPECT_EQ(Next(1), 10);
  EXPECT_EQ(wakes_, 1);
  stores_.updates = true;
  wakes_ = 0;
  Start();
  EXPECT_GT(wakes_, 0) << "it has caught up";
  Fill(1, 10);
  take();
  EXPECT_EQ(Next(1), 20);
  EXPECT_EQ(wakes_, 0) << "a pass would look at each partition for nothing";
  const TimeMs at = clock_.WallNow();
  topic_.Append(1, {at, "u",
                    R"({"user_id":"u","kind":"removed","item_id":"i1","exposed_at":)" +
                        std::to_string(at.value) + "}"});
  take();
  EXPECT_EQ(Next(1), 21);
  EXPECT_EQ(wakes_, 1) << "what is taken back is published at once";
}

}  // namespace
}  // namespace seen
