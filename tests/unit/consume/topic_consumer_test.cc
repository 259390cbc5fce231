#include "consume/topic_consumer.h"

#include <gtest/gtest.h>

#include "recording_handler.h"

namespace seen {
namespace {
using namespace std::chrono_literals;
using Kind = PartitionProblem::Kind;

/// A wait moves the clock. `on_wait` may make room.
class WaitOnClock final : public ConsumerWait {
 public:
  explicit WaitOnClock(sim::VirtualClock& clock) : clock_(clock) {}
  void WaitForSpace(std::chrono::milliseconds time) override {
    clock_.Advance(time.count());
    ++waits;
    if (on_wait) on_wait();
  }
  int waits = 0;
  std::function<void()> on_wait;

 private:
  sim::VirtualClock& clock_;
};

class TopicRunnerTest : public testing::Test {
 protected:
  /// Starts a runner with two workers and partitions 0 to 2.
  void Start(bool rebuild = false) {
    TopicConsumer::Options options;
    options.topic = "t";
    options.remedy = "point input.topic at the right topic, or ";
    options.rebuild = rebuild;
    runner_ = std::make_unique<TopicConsumer>(options, handler_, wait_, clock_);
    log_ = std::make_unique<sim::FakeGroupLog>(topic_, *runner_, 2, 10);
    runner_->SetLog(*log_);
    log_->Assign({0, 1, 2});
  }
  Status Steps(int count = 30) {
    for (int i = 0; i < count; ++i) {
      if (Status stepped = runner_->StepControl(0ms); !stepped) return stepped;
      runner_->StepWorker(0, 0ms);
      runner_->StepWorker(1, 0ms);
      clock_.Advance(100);
    }
    return {};
  }
  void FillAll(int from, int to) {
    for (int32_t partition = 0; partition < 3; ++partition) Fill(topic_, partition, from, to);
  }
  std::optional<PartitionProblem> Problem(int32_t partition) {
    for (const PartitionProblem& problem : runner_->Problems()) {
      if (problem.partition == partition) return problem;
    }
    return std::nullopt;
  }
  void ExpectOthersGoOn(int32_t bad) {
    FillAll(1000, 1020);
    ASSERT_TRUE(Steps());
    for (int32_t partition = 0; partition < 3; ++partition) {
      if (partition == bad) continue;
      EXPECT_EQ(handler_.Of(partition).next_offset, topic_.watermarks(partition).high) << partition;
      EXPECT_EQ(Problem(partition), std::nullopt) << partition;
    }
  }

  sim::VirtualClock clock_;
  WaitOnClock wait_{clock_};
  sim::FakeTopic topic_{3};
  RecordingTaker handler_;
  std::unique_ptr<TopicConsumer> runner_;
  std::unique_ptr<sim::FakeGroupLog> log_;
};
}  // namespace

bool operator==(const PartitionProblem& a, const PartitionProblem& b) { return a.reason == b.reason; }
void PrintTo(const PartitionProblem& problem, std::ostream* out) { *out << problem.reason; }

namespace {
TEST_F(TopicRunnerTest, TakesEachRecordOnceInOrderAndCommitsWhatIsDone) {
  FillAll(0, 35);
  Start();
  ASSERT_TRUE(Steps());
  for (int32_t partition = 0; partition < 3; ++partition) {
    EXPECT_EQ(handler_.Of(partition).values, Values(0, 35));
    EXPECT_EQ(handler_.Of(partition).end, 35);
    EXPECT_EQ(topic_.committed(partition), 35);
  }
  FillAll(35, 40);
  runner_->Close(0ms);
  EXPECT_EQ(handler_.Of(1).values, Values(0, 35)) << "no record is taken any more";
  EXPECT_EQ(handler_.Of(1).closed, 1);
}

TEST_F(TopicRunnerTest, ReportsAnOpenTransactionThatReadingHasWaitedFor) {
  FillAll(0, 35);
  Start();
  ASSERT_TRUE(Steps());
  log_->SetOpenMessages(4);
  const TimeMs since = clock_.WallNow();
  ASSERT_TRUE(Steps(90));
  EXPECT_TRUE(runner_->OpenTransactions().empty()) << "producers end most transactions within ten seconds";
  ASSERT_TRUE(Steps(30));
  const auto open = runner_->OpenTransactions();
  ASSERT_EQ(open.size(), 3U);
  EXPECT_EQ(open[1].partition, 1);
  EXPECT_EQ(open[1].offset, 35);
  EXPECT_EQ(open[1].messages, 4);
  EXPECT_LE(open[1].since.value - since.value, 1'000);
  Fill(topic_, 1, 35, 40);  // it ended, and another one is open
  ASSERT_TRUE(Steps(20));
  EXPECT_EQ(runner_->OpenTransactions().size(), 2U);
  log_->SetOpenMessages(0);
  ASSERT_TRUE(Steps(20));
  EXPECT_TRUE(runner_->OpenTransactions().empty());
}

TEST_F(TopicRunnerTest, RevokedPartitionsAreClosedAndCommittedAndReadOnByTheNextOwner) {
  FillAll(0, 10);
  Start();
  ASSERT_TRUE(Steps());
  Fill(topic_, 1, 10, 15);
  runner_->StepWorker(1, 0ms);
  log_->Revoke({1});
  ASSERT_TRUE(Steps(1));
  EXPECT_EQ(topic_.committed(1), 15);
  EXPECT_EQ(handler_.Of(1).closed, 1);
  log_->Assign({1});
  Fill(topic_, 1, 15, 20);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(1).values, Values(0, 20));
}

TEST_F(TopicRunnerTest, NothingIsCommittedOfAPartitionThatWasLost) {
  FillAll(0, 10);
  Start();
  ASSERT_TRUE(Steps(1));
  topic_.SetCommitted(1, 3);
  log_->Revoke({1}, true);
  ASSERT_TRUE(Steps(1));
  EXPECT_EQ(topic_.committed(1), 3);
}

TEST_F(TopicRunnerTest, WithoutRoomItWaitsAndThenReadsTheRestAgain) {
  FillAll(0, 30);
  handler_.With(1, [](auto& kept) { kept.room = 4; });
  Start();
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(1).values, Values(0, 4));
  EXPECT_GE(wait_.waits, 49) << "a second in slices";
  EXPECT_EQ(handler_.held, 1) << "reported once, however often it is read again";
  EXPECT_EQ(handler_.Of(0).values, Values(0, 30));
  handler_.With(1, [](auto& kept) { kept.room = SIZE_MAX; });
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(1).values, Values(0, 30));
  EXPECT_EQ(handler_.Of(1).resumed, 1);
}

TEST_F(TopicRunnerTest, APartitionThatWaitsAloneDoesntKeepItsWorker) {
  FillAll(0, 30);
  handler_.With(1, [](auto& kept) {
    kept.room = 4;
    kept.waits_alone = true;
  });
  Start();
  ASSERT_TRUE(Steps());
  EXPECT_LE(wait_.waits, 6) << "a tenth of a second in slices, however often it is read again";
  int steps_read = 0;
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(Steps(1));
    steps_read += log_->read_partitions().contains(1) ? 1 : 0;
  }
  EXPECT_LE(steps_read, 10) << "its records aren't fetched in vain";
  handler_.With(1, [](auto& kept) { kept.room = SIZE_MAX; });
  clock_.Advance(500);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(1).values, Values(0, 30));
  EXPECT_EQ(handler_.held, 1);
  EXPECT_EQ(handler_.Of(1).resumed, 1);
}

TEST_F(TopicRunnerTest, RoomThatComesInTimeLetsTheBatchGoOn) {
  FillAll(0, 10);
  handler_.With(0, [](auto& kept) { kept.room = 4; });
  wait_.on_wait = [&] { handler_.With(0, [](auto& kept) { kept.room = 100; }); };
  Start();
  ASSERT_TRUE(Steps(1));
  EXPECT_EQ(handler_.Of(0).values, Values(0, 10));
  EXPECT_EQ(wait_.waits, 1);
}

TEST_F(TopicRunnerTest, ALostRangeIsSkippedWhetherItIsNoticedAtOpeningOrWhileReading) {
  FillAll(0, 20);
  topic_.DeleteTo(0, 5);
  handler_.With(0, [](auto& kept) { kept.next_offset = 2; });
  Start();
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(0).lost, (std::vector<std::pair<int64_t, int64_t>>{{2, 5}}));
  EXPECT_EQ(handler_.Of(0).values, Values(5, 20));
  log_->SetReachable(false);
  Fill(topic_, 1, 20, 40);
  topic_.DeleteTo(1, 30);
  log_->SetReachable(true);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(1).lost, (std::vector<std::pair<int64_t, int64_t>>{{20, 30}}));
  EXPECT_EQ(handler_.Of(1).next_offset, 40);
}

TEST_F(TopicRunnerTest, ALogThatWasCutStopsItsPartitionAlone) {
  FillAll(0, 20);
  handler_.With(0, [](auto& kept) { kept.next_offset = 21; });
  Start();
  ASSERT_TRUE(Steps());
  ASSERT_TRUE(Problem(0));
  EXPECT_EQ(Problem(0)->kind, Kind::kRefused);
  EXPECT_EQ(
      Problem(0)->reason,
      "partition 0 of topic \"t\" was read up to offset 21, but it ends at 20: the topic was recreated, or "
      "its log was cut. Remedy: point input.topic at the right topic, or start once with --rebuild to drop "
      "this partition's state and read it from its earliest record");
  EXPECT_EQ(handler_.Of(0).refusal, Problem(0)->reason);
  EXPECT_FALSE(log_->opening());
  ExpectOthersGoOn(0);

  topic_.Recreate(1);  // while the runner reads the partition
  ASSERT_TRUE(Steps());
  ASSERT_TRUE(Problem(1));
  EXPECT_EQ(Problem(1)->kind, Kind::kRefused);
  EXPECT_FALSE(log_->read_partitions().contains(1));
  Fill(topic_, 2, 2000, 2010);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(2).next_offset, topic_.watermarks(2).high);
  log_->Revoke({0, 1, 2});
  ASSERT_TRUE(Steps(1));
  EXPECT_TRUE(runner_->Problems().empty()) << "another member's now";
  EXPECT_EQ(handler_.Of(0).refusal, "");
}

TEST_F(TopicRunnerTest, WithRebuildALogThatWasCutIsReadFromItsStart) {
  FillAll(0, 20);
  handler_.With(0, [](auto& kept) { kept.next_offset = 21; });
  Start(true);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(0).dropped, 1);
  EXPECT_EQ(handler_.Of(0).values, Values(0, 20));
  topic_.Recreate(1);
  Fill(topic_, 1, 100, 105);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(1).dropped, 1);
  EXPECT_EQ(handler_.Of(1).values, Values(100, 105));
  EXPECT_TRUE(runner_->Problems().empty());
}

TEST_F(TopicRunnerTest, WhatRefusesOrIsCorruptStopsItsPartitionAlone) {
  struct Case {
    const char* when;
    std::optional<Error> RecordingTaker::Kept::*fails;
    Code code;
    Kind kind;
  };
  using Kept = RecordingTaker::Kept;
  for (const auto& [when, fails, code, kind] :
       {Case{"at opening", &Kept::open_fails, Code::kRefused, Kind::kRefused},
        Case{"at opening", &Kept::open_fails, Code::kCorrupt, Kind::kStopped},
        Case{"while reading", &Kept::take_fails, Code::kRefused, Kind::kRefused},
        Case{"while reading", &Kept::take_fails, Code::kCorrupt, Kind::kStopped},
        Case{"between batches", &Kept::idle_fails, Code::kCorrupt, Kind::kStopped}}) {
    SCOPED_TRACE(std::string(when) + ", " + std::string(CodeName(code)));
    const int32_t bad = 1;
    FillAll(0, 20);
    handler_.With(bad, [&](auto& kept) { kept.*fails = Error{code, "not so"}; });
    Start();
    ASSERT_TRUE(Steps());
    ASSERT_TRUE(Problem(bad));
    EXPECT_EQ(Problem(bad)->kind, kind);
    EXPECT_EQ(Problem(bad)->reason, "not so");
    EXPECT_EQ(handler_.Of(bad).refusal, "not so");
    const int opened = handler_.Of(bad).opened;
    ExpectOthersGoOn(bad);
    EXPECT_EQ(handler_.Of(bad).opened, opened) << "an operator decides: it isn't asked again";
    runner_->Close(0ms);
    handler_.With(bad, [](auto& kept) { kept = {}; });
    topic_.Recreate(bad);
    log_.reset();
    topic_.SetCommitted(bad, 0);
    for (int32_t partition : {0, 1, 2}) handler_.With(partition, [](auto& kept) { kept = {}; });
    for (int32_t partition : {0, 1, 2}) topic_.Recreate(partition);
  }
}

TEST_F(TopicRunnerTest, WithRebuildCorruptStateIsDroppedAndRead) {
  FillAll(0, 20);
  handler_.With(0, [](auto& kept) { kept.open_fails = Error{Code::kCorrupt, "MANIFEST"}; });
  Start(true);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(0).values, Values(0, 20));
  handler_.With(1, [](auto& kept) { kept.idle_fails = Error{Code::kCorrupt, "a flipped byte"}; });
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(1).dropped, 1);
  EXPECT_EQ(handler_.Of(1).values, Values(0, 20));
}

TEST_F(TopicRunnerTest, WhatMayPassIsTriedAgainAndNamedMeanwhile) {
  FillAll(0, 20);
  for (const Code code : {Code::kUnavailable, Code::kNoSpace}) {
    handler_.With(0, [&](auto& kept) { kept.open_fails = Error{code, "the disk is full"}; });
    Start();
    ASSERT_TRUE(Steps());
    ASSERT_TRUE(Problem(0));
    EXPECT_EQ(Problem(0)->kind, Kind::kOpening);
    EXPECT_TRUE(log_->opening());
    EXPECT_EQ(handler_.Of(1).values, Values(0, 20));
    handler_.With(0, [](auto& kept) { kept.open_fails.reset(); });
    ASSERT_TRUE(Steps());
    EXPECT_EQ(handler_.Of(0).values, Values(0, 20));
    EXPECT_EQ(Problem(0), std::nullopt);
    runner_->Close(0ms);
    log_.reset();
    for (int32_t partition : {0, 1, 2}) handler_.With(partition, [](auto& kept) { kept = {}; });
  }
}

TEST_F(TopicRunnerTest, AFailureWhileReadingIsReadOnAfterAWhile) {
  FillAll(0, 20);
  handler_.With(0, [](auto& kept) { kept.take_fails = Error{Code::kUnavailable, "no acknowledgement"}; });
  Start();
  ASSERT_TRUE(Steps(2));
  ASSERT_TRUE(Problem(0));
  EXPECT_EQ(Problem(0)->kind, Kind::kWaiting);
  EXPECT_TRUE(handler_.Of(0).values.empty());
  EXPECT_FALSE(log_->read_partitions().contains(0)) << "what it fetched would be thrown away";
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(0).values, Values(0, 20));
  EXPECT_EQ(Problem(0), std::nullopt);
}

TEST_F(TopicRunnerTest, FencedOrWithAConfigurationThatFitsNoPartitionItEnds) {
  handler_.With(0, [](auto& kept) { kept.open_fails = Error{Code::kInvalidArgument, "no such setting"}; });
  Start();
  EXPECT_EQ(Steps().error().code, Code::kInvalidArgument);
  handler_.With(0, [](auto& kept) { kept.open_fails.reset(); });
  ASSERT_TRUE(Steps());
  log_->Fence();
  EXPECT_EQ(Steps().error().code, Code::kRefused);
}

TEST_F(TopicRunnerTest, BrokersThatAreAwayAreWaitedFor) {
  Start();
  ASSERT_TRUE(Steps(2));
  log_->SetReachable(false);
  FillAll(0, 20);
  ASSERT_TRUE(Steps());
  EXPECT_TRUE(handler_.Of(0).values.empty());
  log_->SetReachable(true);
  ASSERT_TRUE(Steps());
  EXPECT_EQ(handler_.Of(0).values, Values(0, 20));
}

}  // namespace
}  // namespace seen
