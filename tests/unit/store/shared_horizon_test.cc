#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "store/merge_rules.h"

namespace seen {
namespace {

TEST(SharedHorizon, LetsNothingGoUntilItIsSet) {
  const SharedHorizon shared;
  EXPECT_EQ(shared.Get(), Horizon{});
}

TEST(SharedHorizon, IsReadAsItWasSetOnce) {
  SharedHorizon shared;
  shared.Set(Horizon::Of({1}));
  std::atomic<bool> done = false;
  std::vector<std::jthread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      while (!done.load()) {
        const Horizon read = shared.Get();
        EXPECT_EQ(read, Horizon::Of(read.exposed));
      }
    });
  }
  for (int32_t day = 1; day <= 20'000; ++day) shared.Set(Horizon::Of({day}));
  done.store(true);
  readers.clear();
  EXPECT_EQ(shared.Get(), Horizon::Of({20'000}));
}

}  // namespace
}  // namespace seen
