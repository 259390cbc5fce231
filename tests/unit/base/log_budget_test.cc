#include "base/log_budget.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

using namespace std::chrono_literals;

TEST(LogBudget, AllowsABurstThenHoldsBackAndCounts) {
  LogBudget budget(3, 10s);
  const Instant start{1h};
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(budget.Allow(start));
  for (int i = 0; i < 7; ++i) EXPECT_FALSE(budget.Allow(start));
  EXPECT_EQ(budget.TakeHeldBack(), 7u);
  EXPECT_EQ(budget.TakeHeldBack(), 0u);
}

TEST(LogBudget, RefillsWithTimeAndNeverBeyondItsBurst) {
  LogBudget budget(2, 10s);
  const Instant start{1h};
  EXPECT_TRUE(budget.Allow(start));
  EXPECT_TRUE(budget.Allow(start));
  EXPECT_FALSE(budget.Allow(start + 4s));
  EXPECT_TRUE(budget.Allow(start + 6s));
  EXPECT_TRUE(budget.Allow(start + 1000s));
  EXPECT_TRUE(budget.Allow(start + 1000s));
  EXPECT_FALSE(budget.Allow(start + 1000s));
}

TEST(LogBudget, GainsNothingFromAnInstantThatGoesBack) {
  LogBudget budget(1, 10s);
  EXPECT_TRUE(budget.Allow(Instant{1h}));
  EXPECT_FALSE(budget.Allow(Instant{1h} - 1min));
  EXPECT_FALSE(budget.Allow(Instant{1h}));
}

}  // namespace
}  // namespace seen
