#include "base/mutex.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace seen {
namespace {

class Counter {
 public:
  void Add() EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    ++count_;
    changed_.NotifyAll();
  }

  int WaitFor(int count) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (count_ < count) changed_.Wait(mutex_);
    return count_;
  }

  bool WaitUntil(int count, std::chrono::steady_clock::time_point deadline) EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    while (count_ < count) {
      if (!changed_.WaitUntil(mutex_, deadline)) return false;
    }
    return true;
  }

 private:
  Mutex mutex_;
  ConditionVariable changed_;
  int count_ GUARDED_BY(mutex_) = 0;
};

TEST(Mutex, LetsOneThreadInAtATime) {
  constexpr int kThreads = 4, kRounds = 10'000;
  Counter counter;
  std::vector<std::jthread> threads;
  for (int thread = 0; thread < kThreads; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < kRounds; ++round) counter.Add();
    });
  }
  EXPECT_EQ(counter.WaitFor(kThreads * kRounds), kThreads * kRounds);
}

TEST(Mutex, IsTakenOnlyWhileItIsFree) {
  Mutex mutex;
  MutexLock lock(mutex);
  const auto is_free = [&] {
    bool taken = false;
    std::jthread([&] {
      if (!mutex.try_lock()) return;
      taken = true;
      mutex.unlock();
    }).join();
    return taken;
  };
  EXPECT_FALSE(is_free());
  lock.unlock();
  EXPECT_TRUE(is_free());
  lock.lock();
  EXPECT_FALSE(is_free());
}

TEST(ConditionVariable, StopsWaitingAtTheDeadline) {
  Counter counter;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(20);
  EXPECT_FALSE(counter.WaitUntil(1, deadline));
  EXPECT_GE(std::chrono::steady_clock::now(), deadline);
  counter.Add();
  EXPECT_TRUE(counter.WaitUntil(1, deadline));
}

}  // namespace
}  // namespace seen
