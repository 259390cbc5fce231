#include "consume/consumer_threads.h"

#include <gtest/gtest.h>

#include <thread>

#include "recording_handler.h"

namespace seen {
namespace {
using namespace std::chrono_literals;

template <typename Condition>
bool Eventually(Condition&& condition) {
  for (int i = 0; i < 5000; ++i) {
    if (condition()) return true;
    std::this_thread::sleep_for(2ms);
  }
  return false;
}

class RunnerThreadsTest : public testing::Test {
 protected:
  static constexpr int32_t kPartitions = 4;
  RunnerThreadsTest() {
    TopicConsumer::Options options;
    options.topic = "t";
    options.commit_every = 5ms;
    options.hold_max = 20ms;
    options.read_on_after = 5ms;
    runner_ = std::make_unique<TopicConsumer>(options, handler_, room_, clock_);
    log_ = std::make_unique<sim::FakeGroupLog>(topic_, *runner_, 2, 16);
    runner_->SetLog(*log_);
    log_->Assign({0, 1, 2, 3});
  }
  void Start() {
    threads_ =
        std::make_unique<ConsumerThreads>(*runner_, "test", 2, [this](const Error&) { failed_ = true; });
  }
  bool AllTaken() {
    for (int32_t partition = 0; partition < kPartitions; ++partition) {
      if (handler_.Of(partition).next_offset != topic_.watermarks(partition).high) return false;
    }
    return true;
  }

  SystemClock clock_;
  SpaceSignal room_;
  sim::FakeTopic topic_{kPartitions};
  RecordingTaker handler_;
  std::unique_ptr<TopicConsumer> runner_;
  std::unique_ptr<sim::FakeGroupLog> log_;
  std::atomic<bool> failed_{false};
  std::unique_ptr<ConsumerThreads> threads_;
};

TEST_F(RunnerThreadsTest, RecordsKeepTheirOrderWhilePartitionsComeAndGoAndFail) {
  Start();
  int produced = 0;
  for (int round = 0; round < 60; ++round) {
    for (int32_t partition = 0; partition < kPartitions; ++partition)
      Fill(topic_, partition, produced, produced + 20);
    produced += 20;
    const int32_t some = round % kPartitions;
    if (round % 4 == 1) log_->Revoke({some});
    if (round % 4 == 3) log_->Assign({(some + 2) % kPartitions});
    if (round % 5 == 0)
      handler_.With(some, [](auto& kept) { kept.take_fails = Error{Code::kUnavailable, "not now"}; });
    if (round % 7 == 0) handler_.With(some, [](auto& kept) { kept.room = 7; });
    if (round % 7 == 3) {
      for (int32_t partition = 0; partition < kPartitions; ++partition)
        handler_.With(partition, [](auto& kept) { kept.room = SIZE_MAX; });
      room_.Wake();
    }
    (void)runner_->Problems();
    std::this_thread::sleep_for(3ms);
  }
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    handler_.With(partition, [](auto& kept) { kept.room = SIZE_MAX; });
    log_->Revoke({partition});
    log_->Assign({partition});
  }
  EXPECT_TRUE(Eventually([&] { return AllTaken(); }));
  threads_->Stop(0ms);
  for (int32_t partition = 0; partition < kPartitions; ++partition) {
    EXPECT_EQ(handler_.Of(partition).values, Values(0, produced)) << partition;
    EXPECT_EQ(topic_.committed(partition), produced);
  }
  EXPECT_FALSE(failed_);
}

TEST_F(RunnerThreadsTest, StoppedWorkersTakeNothingMoreAndAHoldEnds) {
  handler_.With(0, [](auto& kept) { kept.room = 0; });
  for (int32_t partition = 0; partition < kPartitions; ++partition) Fill(topic_, partition, 0, 100);
  Start();
  EXPECT_TRUE(Eventually([&] { return handler_.held > 0 && handler_.Of(1).values.size() == 100; }));
  threads_->StopWorkers();
  Fill(topic_, 1, 100, 200);
  std::this_thread::sleep_for(10ms);
  EXPECT_EQ(handler_.Of(1).values.size(), 100u);
  threads_->Stop(0ms);
  EXPECT_EQ(handler_.Of(1).closed, 1);
  EXPECT_EQ(topic_.committed(1), 100);
}

TEST_F(RunnerThreadsTest, AMemberThatIsFencedSaysSoOnceAndStops) {
  Start();
  EXPECT_TRUE(Eventually([&] { return log_->read_partitions().size() == 4; }));
  log_->Fence();
  EXPECT_TRUE(Eventually([&] { return failed_.load(); }));
  threads_->Stop(0ms);
  EXPECT_EQ(handler_.Of(0).closed, 1);
}

}  // namespace
}  // namespace seen
