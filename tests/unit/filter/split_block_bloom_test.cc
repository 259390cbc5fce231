#include "filter/split_block_bloom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "filters/mutable/mutable_split_block_bloom.h"
#include "unit/filter/every_kind.h"
#include "unit/filter/reference_bloom.h"

namespace seen {
namespace {

using namespace split_block_bloom;
using reference::RandomFingerprints;

std::vector<Kernel> Kernels() {
  std::vector<Kernel> kernels = {Kernel::kPortable};
  if (BestKernel() != Kernel::kPortable) kernels.push_back(BestKernel());
  return kernels;
}

std::string Filled(std::span<const Fingerprint> fingerprints, uint32_t blocks, Kernel kernel = BestKernel()) {
  std::string bytes(blocks * kBlockBytes, '\0');
  Insert(fingerprints, bytes, kernel);
  return bytes;
}

TEST(SplitBlockBloom, MergesIntoWhatEitherHeld) {
  auto [merged, both] = kinds::MergesHalves<MutableSplitBlockBloom>(1000, 0.01, 1, 2);
  kinds::RefusesToMerge(merged, MutableSplitBlockBloom(2000, 0.01), "both must have as many");
}

TEST(SplitBlockBloom, HasTheReferencesBytesAndAnswersWithEveryKernel) {
  for (const size_t count : {0u, 1u, 2u, 7u, 100u, 3000u}) {
    for (const uint32_t blocks : {1u, 2u, 3u, 31u, 977u}) {
      const auto fingerprints = RandomFingerprints(count, count + blocks);
      const std::string expected = reference::Blocks(fingerprints, blocks);
      const auto questions = RandomFingerprints(500, 99);
      for (const Kernel kernel : Kernels()) {
        EXPECT_EQ(Filled(fingerprints, blocks, kernel), expected);
        std::vector<uint8_t> answers(questions.size());
        MightContainEach(expected, questions, answers, kernel);
        for (size_t i = 0; i < questions.size(); ++i) {
          EXPECT_EQ(answers[i] == 1, reference::MightContain(expected, questions[i]));
          EXPECT_EQ(MightContain(expected, questions[i], kernel), answers[i] == 1);
        }
      }
    }
  }
}

TEST(SplitBlockBloom, WorksAtAnyAlignment) {
  const auto fingerprints = RandomFingerprints(300, 5);
  const std::string expected = reference::Blocks(fingerprints, 10);
  for (const Kernel kernel : Kernels()) {
    for (size_t shift = 0; shift < 33; ++shift) {
      std::string bytes(10 * kBlockBytes + shift, '\0');
      Insert(fingerprints, std::span(bytes).subspan(shift), kernel);
      EXPECT_EQ(bytes.substr(shift), expected);
      EXPECT_EQ(bytes.substr(0, shift), std::string(shift, '\0'));
    }
  }
}

TEST(SplitBlockBloom, DependsOnTheSetNotOnOrderOrRepetition) {
  auto fingerprints = RandomFingerprints(1000, 17);
  const std::string expected = Filled(fingerprints, 40);
  std::shuffle(fingerprints.begin(), fingerprints.end(), std::mt19937_64(3));
  const auto once = fingerprints;
  fingerprints.insert(fingerprints.end(), once.begin(), once.begin() + 100);
  EXPECT_EQ(Filled(fingerprints, 40), expected);
}

TEST(SplitBlockBloom, HasNoFalseNegativeInTenMillionLookUps) {
  constexpr size_t kCount = 20'000;
  std::vector<uint8_t> answers(kCount);
  uint64_t asked = 0;
  uint64_t found = 0;
  for (uint64_t seed = 0; seed < 500; ++seed) {
    const auto fingerprints = RandomFingerprints(seed % 2 == 0 ? kCount : 1 + seed, seed);
    const std::string bytes = Filled(fingerprints, BlocksFor(fingerprints.size(), 0.01));
    // Small sets are asked more than once, through the other kernel.
    const Kernel kernel = seed % 4 == 1 ? Kernel::kPortable : BestKernel();
    for (size_t done = 0; done < kCount; done += fingerprints.size()) {
      MightContainEach(bytes, fingerprints, std::span(answers).first(fingerprints.size()), kernel);
      asked += fingerprints.size();
      found += static_cast<uint64_t>(
          std::count(answers.begin(), answers.begin() + static_cast<ptrdiff_t>(fingerprints.size()), 1));
    }
  }
  EXPECT_GE(asked, 10'000'000u);
  EXPECT_EQ(found, asked);
}

TEST(SplitBlockBloom, HoldsTheRateAskedForWithoutPaddingItAway) {
  kinds::HoldsTheRate<SplitBlockBloomFilter, SplitBlockBloomView>({{1, 0.01, 2000},
                                                                   {10, 0.01, 2000},
                                                                   {100, 0.01, 500, 0.35},
                                                                   {1000, 0.01, 100, 0.35},
                                                                   {3000, 0.01, 50, 0.35},
                                                                   {20'000, 0.01, 20, 0.35},
                                                                   {1, 0.001, 2000},
                                                                   {10, 0.001, 4000},
                                                                   {100, 0.001, 1000, 0.35},
                                                                   {1000, 0.001, 200, 0.35},
                                                                   {3000, 0.001, 100, 0.35},
                                                                   {20'000, 0.001, 50, 0.35}},
                                                                  6'000'000);
}

TEST(SplitBlockBloom, SizesByTheExactFormula) {
  for (const size_t count : {1u, 2u, 10u, 100u, 1000u, 3000u}) {
    for (const uint32_t blocks : {1u, 2u, 5u, 50u, 400u, 5000u}) {
      const double expected = reference::FalsePositiveRate(count, blocks);
      EXPECT_NEAR(FalsePositiveRate(count, blocks), expected, 1e-13 + 1e-7 * expected)
          << count << " in " << blocks;
    }
  }
  EXPECT_EQ(FalsePositiveRate(0, 1), 0.0);
}

TEST(SplitBlockBloom, TakesTheFewestBlocksThatHoldTheRate) {
  for (const double rate : {0.5, 0.1, 0.01, 0.001, 1e-6}) {
    EXPECT_EQ(BlocksFor(0, rate), 1u);
    uint32_t before = 1;
    for (const size_t count : {1u, 3u, 10u, 33u, 100u, 1000u, 3000u, 20'000u, 200'000u}) {
      const uint32_t blocks = BlocksFor(count, rate);
      EXPECT_GE(blocks, before);
      EXPECT_LE(FalsePositiveRate(count, blocks), rate);
      EXPECT_TRUE(blocks == 1 || FalsePositiveRate(count, blocks - 1) > rate);
      before = blocks;
    }
  }
  EXPECT_EQ(BlocksFor(1000, 1e-300), BlocksFor(1000, kRateMin));
}

TEST(SplitBlockBloomDeathTest, RefusesARateOutsideItsRange) {
  for (const double rate : {0.0, -0.01, 0.51, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_DEATH((void)BlocksFor(10, rate), "0, 0.5");
  }
}

}  // namespace
}  // namespace seen
