// Threads share the remembered sizes of filters. The other tests of the kinds of filters have one thread.

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "filter/snapshot_format.h"
#include "filter/split_block_bloom.h"

namespace seen {
namespace {

using namespace split_block_bloom;

TEST(Sizes, AreRememberedForManyRatesFromManyThreads) {
  // More rates than are remembered. Each thread asks for each rate twice, in an order of its own.
  std::vector<double> rates;
  for (int i = 1; i <= 80; ++i) rates.push_back(0.005 * i);
  std::vector<std::vector<uint32_t>> answers(4);
  {
    std::vector<std::jthread> threads;
    for (size_t t = 0; t < answers.size(); ++t) {
      threads.emplace_back([&, t] {
        for (size_t i = 0; i < 2 * rates.size(); ++i) {
          const double rate = rates[(i + 5 * t) % rates.size()];
          for (const size_t count : {5u, 500u, 50'000u}) answers[t].push_back(BlocksFor(count, rate));
        }
      });
    }
  }
  for (size_t t = 0; t < answers.size(); ++t) {
    for (size_t i = 0; i < 2 * rates.size(); ++i) {
      const double rate = rates[(i + 5 * t) % rates.size()];
      EXPECT_LE(FalsePositiveRate(500, answers[t][3 * i + 1]), rate);
      EXPECT_GT(FalsePositiveRate(500, answers[t][3 * i + 1] - 1), rate);
    }
  }
}

TEST(Sizes, EveryThreadIsToldTheSameKindForACount) {
  std::vector<std::vector<SnapshotFormat>> answers(4);
  {
    std::vector<std::jthread> threads;
    for (std::vector<SnapshotFormat>& mine : answers) {
      threads.emplace_back([&mine] {
        for (size_t count = 0; count < 300; ++count) mine.push_back(FormatFor(count, 0.01));
      });
    }
  }
  for (const auto& others : answers) EXPECT_EQ(others, answers[0]);
}

}  // namespace
}  // namespace seen
