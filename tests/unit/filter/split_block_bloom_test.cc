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

TEST(SplitBlockBloom, FillsOneByOne) {
  kinds::FillsOneByOne<MutableSplitBlockBloom, SplitBlockBloomView>({0.3, 0.01, 1e-9});
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
  struct Case {
    size_t count;
    double rate;
    size_t sets;  // enough look-ups that noise is far below the margin
  };
  for (const Case c : {Case{1, 0.01, 2000},
                       {10, 0.01, 2000},
                       {100, 0.01, 500},
                       {1000, 0.01, 100},
                       {3000, 0.01, 50},
                       {20'000, 0.01, 20},
                       {1, 0.001, 2000},
                       {10, 0.001, 4000},
                       {100, 0.001, 1000},
                       {1000, 0.001, 200},
                       {3000, 0.001, 100},
                       {20'000, 0.001, 50}}) {
    constexpr size_t kLookUps = 6'000'000;
    std::mt19937_64 random(c.count);
    const size_t questions_each = kLookUps / c.sets;
    std::vector<Fingerprint> questions(questions_each);
    std::vector<uint8_t> answers(questions_each);
    uint64_t positives = 0;
    uint64_t asked = 0;
    for (uint64_t set = 0; set < c.sets; ++set) {
      const auto fingerprints = RandomFingerprints(c.count, 7 * set + 1);
      const std::string bytes = Filled(fingerprints, BlocksFor(c.count, c.rate));
      for (Fingerprint& question : questions) question.value = static_cast<uint32_t>(random());
      MightContainEach(bytes, questions, answers);
      for (size_t i = 0; i < questions.size(); ++i) {
        // A question that is in the set is no false positive; few are.
        if (answers[i] == 1 && std::binary_search(fingerprints.begin(), fingerprints.end(), questions[i]))
          continue;
        ++asked;
        positives += answers[i];
      }
    }
    const double measured = static_cast<double>(positives) / static_cast<double>(asked);
    EXPECT_LE(measured, 1.1 * c.rate) << c.count << " items at " << c.rate;
    if (c.count >= 100) {
      EXPECT_GE(measured, 0.25 * c.rate) << c.count << " items at " << c.rate;
    }
    RecordProperty("rate_" + std::to_string(c.count) + "_at_" + std::to_string(c.rate),
                   std::to_string(measured));
  }
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
