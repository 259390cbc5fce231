#include "consume/log_end_watch.h"

#include <gtest/gtest.h>

#include <random>

#include "flow/partition_flow.h"
#include "support/fakes.h"

namespace seen::sim {
namespace {

using namespace std::chrono_literals;

class LogEndWatchTest : public testing::Test {
 protected:
  void Open(int32_t number) {
    const auto plan = EventPlan::Make(EventFormat());
    ASSERT_TRUE(plan.has_value()) << plan.error().message;
    PartitionOptions options;
    options.partition = number;
    options.plan = *plan;
    options.filters.resize(1);
    auto open = std::make_shared<OpenPartition>();
    open->partition = number;
    open->flow = std::make_unique<PartitionFlow>(options, std::nullopt, 0, 0, store_, dead_letters_,
                                                 reporter_, clock_);
    partitions_.Add(std::move(open));
  }
  AsOf Of(int32_t number) { return partitions_.Find(number)->flow->state.GetAsOf(clock_.Now()); }

  VirtualClock clock_;
  DurableState durable_;
  CountingReporter reporter_;
  std::mt19937_64 random_;
  FakeDeadLetters dead_letters_{random_};
  StoreFault fault_ = StoreFault::kNone;
  uint32_t level0_files_ = 0;
  FakeStore store_{durable_, fault_, level0_files_};
  OpenPartitions partitions_;
  std::vector<std::vector<int32_t>> asked_;
  std::chrono::milliseconds fetch_wait_{0};  // a fetch delays the request: a broker answers in order
  std::set<int32_t> silent_;                 // no answer for these, or for others asked with them
  int64_t end_ = 0;
  Instant checked_at_ = Instant::max();  // when the last check of the log began
  Instant wanted_since_{};
  LogEndWatch watch_{[this](std::span<const int32_t> partitions,
                            std::chrono::milliseconds timeout) -> Result<std::map<int32_t, int64_t>> {
                       asked_.emplace_back(partitions.begin(), partitions.end());
                       std::map<int32_t, int64_t> ends;
                       for (const int32_t partition : partitions) {
                         if (timeout < fetch_wait_) {
                           clock_.Advance(timeout.count());
                           return Fail(Code::kUnavailable, "behind a fetch");
                         }
                         if (silent_.contains(partition)) {
                           clock_.Advance(timeout.count());
                           return Fail(Code::kUnavailable, "no leader");
                         }
                         ends[partition] = end_;
                       }
                       return ends;
                     },
                     [this](int32_t, Instant since) {
                       wanted_since_ = since;
                       return checked_at_ >= since;
                     },
                     partitions_, clock_};
};

using Asked = std::vector<std::vector<int32_t>>;

TEST_F(LogEndWatchTest, TellsEveryPartitionItsEndAndTheTimeOfTheQuestion) {
  for (const int32_t number : {0, 1}) Open(number);
  EXPECT_EQ(Of(0).lag_messages, std::nullopt);
  watch_.Step();
  EXPECT_EQ(asked_, (Asked{{0, 1}}));
  clock_.Advance(70);
  for (const int32_t number : {0, 1}) {
    EXPECT_EQ(Of(number).lag_messages, 0);
    EXPECT_EQ(Of(number).age, 70ms);
  }
}

TEST_F(LogEndWatchTest, DoesNotLetOnePartitionKeepTheOthersUnknown) {
  for (const int32_t number : {0, 1, 2, 3}) Open(number);
  silent_ = {2};
  for (int step = 0; step < 6; ++step) {
    watch_.Step();
    clock_.Advance(LogEndWatch::kEvery.count());
  }
  for (const int32_t number : {0, 1, 3}) EXPECT_EQ(Of(number).lag_messages, 0) << number;
  EXPECT_EQ(Of(2).lag_messages, std::nullopt);
  asked_.clear();
  watch_.Step();
  EXPECT_EQ(asked_, (Asked{{0, 1, 3}, {2}}));
  silent_.clear();
  watch_.Step();
  EXPECT_EQ(Of(2).lag_messages, 0);
  asked_.clear();
  watch_.Step();
  EXPECT_EQ(asked_, (Asked{{0, 1, 2, 3}})) << "it answers again";
}

TEST_F(LogEndWatchTest, WaitsForAnAnswerThatStandsBehindAFetch) {
  for (const int32_t number : {0, 1}) Open(number);
  silent_ = {0, 1};
  watch_.Step();
  silent_.clear();
  fetch_wait_ = 150ms;
  watch_.Step();
  for (const int32_t number : {0, 1}) EXPECT_EQ(Of(number).lag_messages, 0) << number;
}

TEST_F(LogEndWatchTest, AsksAllSilentPartitionsInTurnAndNoLongerThanAStepMay) {
  for (int32_t number = 0; number < 20; ++number) Open(number);
  for (int32_t number = 0; number < 20; ++number) {
    if (number != 13) silent_.insert(number);
  }
  for (int step = 0; step < 40; ++step) {
    const Instant before = clock_.Now();
    watch_.Step();
    EXPECT_LE(clock_.Now() - before,
              LogEndWatch::kQuestion + LogEndWatch::kSlowStep + LogEndWatch::kSlowQuestion);
  }
  EXPECT_EQ(Of(13).lag_messages, 0);
}

// A topic may be recreated while the process stands still. The new log's end says nothing about the old log.
TEST_F(LogEndWatchTest, NothingIsFreshAfterAPauseBeforeTheLogWasChecked) {
  Open(0);
  checked_at_ = {};
  watch_.Step();
  clock_.Advance(3'000);
  const Instant resumed = clock_.Now();
  for (int step = 0; step < 4; ++step) {
    watch_.Step();
    EXPECT_EQ(wanted_since_, resumed);
    EXPECT_EQ(Of(0).age, std::chrono::milliseconds(3'000 + 250 * step));
    EXPECT_EQ(Of(0).lag_messages, std::nullopt);
    clock_.Advance(LogEndWatch::kEvery.count());
  }
  checked_at_ = resumed;
  silent_ = {0};
  watch_.Step();
  EXPECT_EQ(Of(0).age, clock_.Now() - resumed) << "a late check confirms the answer before it";
  silent_.clear();
  watch_.Step();
  EXPECT_EQ(Of(0).age, 0ms);
}

TEST_F(LogEndWatchTest, ALogThatEndsBeforeWhatWasReadIsAnother) {
  Open(0);
  checked_at_ = {};
  partitions_.Find(0)->flow->state.SetNextOffset(5);
  end_ = 5;
  watch_.Step();
  clock_.Advance(250);
  end_ = 3;
  watch_.Step();
  clock_.Advance(250);
  end_ = 9;  // the new log has grown beyond
  partitions_.Find(0)->flow->state.SetNextOffset(9);
  watch_.Step();
  EXPECT_EQ(Of(0).age, 500ms);
  checked_at_ = clock_.Now();
  watch_.Step();
  EXPECT_EQ(Of(0).age, 0ms);
}

}  // namespace
}  // namespace seen::sim
