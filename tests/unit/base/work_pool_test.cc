// Threads that work for a caller who waits: they do each piece of work once, and many at the same time.
#include "base/work_pool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <random>
#include <thread>
#include <vector>

namespace seen::test {
namespace {

TEST(WorkPool, DoesEachPieceOnceHoweverManyAsk) {
  WorkPool pool(3, "work");
  std::vector<std::jthread> callers;
  std::atomic<int> wrong = 0;
  for (unsigned seed = 0; seed < 4; ++seed) {
    callers.emplace_back([&, seed] {
      std::mt19937 random(seed);
      for (int round = 0; round < 500; ++round) {
        std::vector<std::atomic<int>> done(random() % 9);
        pool.Run(done.size(), [&](size_t i) { ++done[i]; });
        for (const std::atomic<int>& times : done) wrong += times != 1 ? 1 : 0;
      }
    });
  }
  callers.clear();
  EXPECT_EQ(wrong, 0);
}

TEST(WorkPool, HasAsManyUnderWayAsThereAreThreads) {
  WorkPool pool(7, "work");
  std::atomic<int> begun = 0, met = 0;
  pool.Run(8, [&](size_t) {
    ++begun;
    const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    while (begun < 8 && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    met += begun == 8 ? 1 : 0;
  });
  EXPECT_EQ(met, 8);
}

TEST(WorkPool, NeedsNoThreadOfItsOwn) {
  WorkPool pool(0, "work");
  int done = 0;
  pool.Run(5, [&](size_t) { ++done; });
  EXPECT_EQ(done, 5);
}

}  // namespace
}  // namespace seen::test
