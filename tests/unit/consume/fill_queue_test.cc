#include "consume/fill_queue.h"

#include <gtest/gtest.h>

#include "support/fakes.h"

namespace seen::test {
namespace {

class FillQueueTest : public testing::Test {
 protected:
  FillQueueTest() { Restart(); }
  void Restart() {
    queue_ = std::make_unique<FillQueue>(
        saved_,
        [this](const std::vector<FillRequest>& requests) -> Status {
          if (disk_is_full_) return Fail(Code::kNoSpace, "the disk is full");
          saved_ = requests;
          return {};
        },
        clock_);
  }
  /// "filter/partition"; empty: nothing is due.
  std::string Next() const {
    const auto task = queue_->Next();
    return task ? task->filter + "/" + std::to_string(task->partition) : "";
  }
  FillQueue::Task Task() const { return *queue_->Next(); }

  sim::VirtualClock clock_;
  std::vector<FillRequest> saved_;
  bool disk_is_full_ = false;
  std::unique_ptr<FillQueue> queue_;
};

TEST_F(FillQueueTest, FillsOnePartitionAfterTheOtherAcrossRestarts) {
  EXPECT_EQ(Next(), "");
  ASSERT_TRUE(queue_->Ask("video", "june", {3, 1}));
  ASSERT_TRUE(queue_->Ask("home", "", {3}));
  for (const char* next : {"home/3", "video/1", "video/3"}) {
    EXPECT_EQ(Next(), next);
    Restart();  // as after a crash: what isn't done is filled from the beginning
    EXPECT_EQ(Next(), next);
    queue_->Done(Task());
    Restart();
  }
  EXPECT_EQ(Next(), "");
  ASSERT_EQ(queue_->All().size(), 2u);
  EXPECT_TRUE(queue_->All()[1].done()) << "a restart still knows what is done";
}

TEST_F(FillQueueTest, ThatFailsLeavesTheNextItsTurn) {
  ASSERT_TRUE(queue_->Ask("video", "june", {1, 3}));
  queue_->Failed(Task(), {Code::kUnavailable, "the brokers are away"});
  EXPECT_EQ(queue_->All()[0].partitions[0].problem, "the brokers are away");
  EXPECT_EQ(Next(), "video/3");
  clock_.Advance(10'000);
  EXPECT_EQ(Next(), "video/1");
}

TEST_F(FillQueueTest, AnotherIdReplacesTheFillAndTheSameOneAddsPartitions) {
  ASSERT_TRUE(queue_->Ask("video", "june", {1}));
  const FillQueue::Task june = Task();
  queue_->Done(june);
  EXPECT_EQ(queue_->Ask("video", "june", {1, 2})->partitions.size(), 2u);
  EXPECT_EQ(Next(), "video/2") << "1 is done";
  ASSERT_TRUE(queue_->Ask("video", "july", {1}));
  EXPECT_EQ(Next(), "video/1");
  EXPECT_FALSE(queue_->IsWanted(june));
  ASSERT_TRUE(queue_->Stop("video"));
  EXPECT_EQ(Next(), "");
  EXPECT_TRUE(saved_.empty());
  EXPECT_EQ(queue_->Stop("video").error().code, Code::kNotFound);
}

TEST_F(FillQueueTest, AListThatCannotBeSavedChangesNothing) {
  ASSERT_TRUE(queue_->Ask("video", "june", {1}));
  disk_is_full_ = true;
  EXPECT_EQ(queue_->Ask("video", "july", {1}).error().code, Code::kNoSpace);
  EXPECT_EQ(queue_->Ask("home", "july", {1}).error().code, Code::kNoSpace);
  EXPECT_EQ(queue_->Stop("video").error().code, Code::kNoSpace);
  ASSERT_EQ(queue_->All().size(), 1u);
  EXPECT_EQ(queue_->All()[0].id, "june");
}

TEST_F(FillQueueTest, APartitionThatAnotherDaemonHasForHalfAMinuteLeavesTheFill) {
  ASSERT_TRUE(queue_->Ask("video", "june", {1}));
  const FillQueue::Task task = Task();
  queue_->Elsewhere(task);
  EXPECT_EQ(Next(), "") << "a rebalance may give it back";
  clock_.Advance(2'000);
  EXPECT_EQ(Next(), "video/1");
  queue_->Here(task);
  clock_.Advance(40'000);
  queue_->Elsewhere(task);
  EXPECT_EQ(queue_->All()[0].partitions.size(), 1u);
  clock_.Advance(30'000);
  queue_->Elsewhere(task);
  EXPECT_TRUE(queue_->All()[0].partitions.empty());
  EXPECT_TRUE(saved_[0].partitions.empty());
}

}  // namespace
}  // namespace seen::test
