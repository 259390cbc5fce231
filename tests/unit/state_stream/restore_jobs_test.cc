#include "state_stream/restore_jobs.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "base/clock.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

/// Each restore runs until the test ends it.
class RestoreJobsTest : public testing::Test {
 protected:
  RestoreJobs::Restorer Restorer() {
    ++made_;
    return [this](const StoreIdentity& identity, RestoreProgress& progress) -> Status {
      ++begun_[static_cast<size_t>(identity.partition)];
      progress.records_in_all = 4;
      progress.records = 1;
      progress.bytes = 77;
      while (holds_.load()) std::this_thread::sleep_for(milliseconds(1));
      if (fails_.load()) return Fail(Code::kCorrupt, "not this one");
      return {};
    };
  }

  static StoreIdentity Of(int32_t partition) { return {"exposures", partition, 12, "murmur2"}; }

  template <typename Condition>
  static bool Becomes(Condition condition) {
    const auto until = std::chrono::steady_clock::now() + seconds(20);
    while (!condition()) {
      if (std::chrono::steady_clock::now() >= until) return false;
      std::this_thread::sleep_for(milliseconds(1));
    }
    return true;
  }

  Status Done(RestoreJobs& jobs, int32_t partition) {
    Status status;
    EXPECT_TRUE(Becomes([&] {
      status = jobs.Restore(Of(partition));
      return status || status.error().code != Code::kUnavailable;
    }));
    return status;
  }

  SystemClock clock_;
  std::atomic<int> made_ = 0;
  std::array<std::atomic<int>, 16> begun_{};
  std::atomic<bool> holds_ = false;
  std::atomic<bool> fails_ = false;
};

TEST_F(RestoreJobsTest, WhatIsSoonOverIsWaitedFor) {
  RestoreJobs jobs(
      {.quick = seconds(20)}, [this] { return Restorer(); }, clock_);
  for (int32_t partition = 0; partition < 12; ++partition) EXPECT_TRUE(jobs.Restore(Of(partition)));
  EXPECT_LE(made_.load(), 2) << "a thread's restorer serves one partition after another";
}

TEST_F(RestoreJobsTest, OthersWaitForTheirTurnAndNobodyForThem) {
  holds_ = true;
  RestoreJobs jobs(
      {.threads = 2, .quick = milliseconds(1)}, [this] { return Restorer(); }, clock_);
  for (int32_t partition = 0; partition < 4; ++partition) EXPECT_FALSE(jobs.Restore(Of(partition)));
  ASSERT_TRUE(Becomes([&] { return begun_[0] == 1 && begun_[1] == 1; }));
  EXPECT_EQ(jobs.Restore(Of(0)).error().message,
            "partition 0: its state is being restored from the state topic: 25% (77 bytes)");
  EXPECT_EQ(jobs.Restore(Of(3)).error().message,
            "partition 3: its state waits to be restored from the state topic");
  EXPECT_EQ(begun_[2].load() + begun_[3].load(), 0);
  ASSERT_EQ(jobs.GetFigures().size(), 4U);
  EXPECT_EQ(jobs.GetFigures().at(0).share, 0.25);
  EXPECT_EQ(jobs.GetFigures().at(3).share, 0);
  holds_ = false;
  for (int32_t partition = 0; partition < 4; ++partition) EXPECT_TRUE(Done(jobs, partition));
  EXPECT_TRUE(jobs.GetFigures().empty());
}

TEST_F(RestoreJobsTest, WhatIsExpectedBeginsBeforeItIsAskedFor) {
  RestoreJobs jobs(
      {.quick = seconds(20)}, [this] { return Restorer(); }, clock_);
  for (int32_t partition = 0; partition < 12; ++partition) jobs.Begin(Of(partition));
  EXPECT_TRUE(Becomes([&] { return begun_[11] == 1; }));
  for (int32_t partition = 0; partition < 12; ++partition) {
    EXPECT_TRUE(Done(jobs, partition));
    EXPECT_EQ(begun_[static_cast<size_t>(partition)].load(), 1);
  }
}

TEST_F(RestoreJobsTest, WhatItCameToIsToldOnce) {
  fails_ = true;
  RestoreJobs jobs(
      {}, [this] { return Restorer(); }, clock_);
  EXPECT_EQ(Done(jobs, 5).error().message, "not this one");
  fails_ = false;
  EXPECT_TRUE(Done(jobs, 5));
  EXPECT_EQ(begun_[5].load(), 2);
}

// The partition went to another member and came back. The other member wrote state in between.
TEST_F(RestoreJobsTest, WhatWasRestoredForAnEarlierAssignmentDoesNotCount) {
  RestoreJobs jobs(
      {.quick = milliseconds(0)}, [this] { return Restorer(); }, clock_);
  for (const bool while_it_runs : {false, true}) {
    SCOPED_TRACE(while_it_runs);
    begun_[5] = 0;
    holds_ = true;
    ASSERT_FALSE(jobs.Restore(Of(5)));
    ASSERT_TRUE(Becomes([&] { return begun_[5] == 1; }));
    if (!while_it_runs) {
      holds_ = false;
      ASSERT_TRUE(Becomes([&] { return jobs.GetFigures().empty(); }));
    }
    jobs.Abandon(5);
    if (while_it_runs) {
      EXPECT_NE(jobs.Restore(Of(5)).error().message.find("again"), std::string::npos);
    }
    holds_ = false;
    EXPECT_TRUE(Done(jobs, 5));
    EXPECT_EQ(begun_[5].load(), 2);
  }
}

TEST_F(RestoreJobsTest, WhatWaitsAndIsAbandonedNeverBegins) {
  holds_ = true;
  RestoreJobs jobs(
      {.threads = 1, .quick = milliseconds(0)}, [this] { return Restorer(); }, clock_);
  ASSERT_FALSE(jobs.Restore(Of(0)));
  ASSERT_TRUE(Becomes([&] { return begun_[0] == 1; }));
  ASSERT_FALSE(jobs.Restore(Of(1)));
  jobs.Abandon(1);
  holds_ = false;
  EXPECT_TRUE(Done(jobs, 0));
  EXPECT_TRUE(Done(jobs, 2)) << "threads go on";
  EXPECT_EQ(begun_[1].load(), 0);
}

}  // namespace
}  // namespace seen
