#include "base/lifetime.h"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

namespace seen {
namespace {
using namespace std::chrono_literals;

struct ClosesSlowly {
  explicit ClosesSlowly(std::atomic<bool>& flag) : closed(flag) {}
  ~ClosesSlowly() {
    std::this_thread::sleep_for(50ms);
    closed = true;
  }
  std::atomic<bool>& closed;
};

struct Shared {
  explicit Shared(std::atomic<bool>& closed) : store(closed) {}
  Lifetime lifetime;
  ClosesSlowly store;
};

TEST(Lifetime, EndsAfterTheDestructorInAnotherThread) {
  std::atomic<bool> closed = false;
  auto shared = std::make_shared<Shared>(closed);
  const Lifetime::Watch watch = shared->lifetime.GetWatch();
  EXPECT_FALSE(watch.AwaitEnd(0ms));
  EXPECT_FALSE(watch.AwaitEnd(1ms)) << "patience ends";
  std::thread last([held = std::move(shared)]() mutable { held.reset(); });
  EXPECT_TRUE(watch.AwaitEnd(10s));
  EXPECT_TRUE(closed.load());
  last.join();
  EXPECT_TRUE(watch.AwaitEnd(0ms)) << "it stays ended";
}

TEST(Lifetime, NothingHasEnded) { EXPECT_TRUE(Lifetime::Watch().AwaitEnd(0ms)); }

}  // namespace
}  // namespace seen
