#include "similar/text/sketch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace seen {
namespace {

struct Made {
  Sketch sketch;
  std::array<uint64_t, kBands> bands{};
};

Made MadeOf(const std::vector<uint64_t>& shingles, int rows = 4) {
  SketchBuilder builder(rows);
  for (const uint64_t shingle : shingles) builder.Add(shingle);
  Made made;
  builder.Finish(made.sketch, made.bands);
  return made;
}

struct Pair {
  std::vector<uint64_t> a, b;
  double similarity = 0;  // exact
};

// Two sets of about `size` shingles, of which `common` are in both.
Pair RandomPair(std::mt19937_64& random, size_t size, size_t common) {
  Pair pair;
  for (size_t i = 0; i < common; ++i) pair.a.push_back(random());
  pair.b = pair.a;
  while (pair.a.size() < size) pair.a.push_back(random());
  while (pair.b.size() < size) pair.b.push_back(random());
  std::shuffle(pair.a.begin(), pair.a.end(), random);
  pair.similarity = static_cast<double>(common) / static_cast<double>(2 * size - common);
  return pair;
}

TEST(Sketch, IsExactForUpTo256Shingles) {
  std::mt19937_64 random(1);
  for (const size_t size : {1u, 2u, 7u, 30u, 100u, 256u}) {
    for (size_t common = 0; common <= size; common += std::max<size_t>(1, size / 5)) {
      const Pair pair = RandomPair(random, size, common);
      const Made a = MadeOf(pair.a), b = MadeOf(pair.b);
      EXPECT_EQ(a.sketch.level, 0);
      // Among 512 hashes, two sometimes have the same 16 bits.
      EXPECT_NEAR(SketchSimilarity(a.sketch, b.sketch), pair.similarity, 0.02) << size << " " << common;
      EXPECT_EQ(SketchSimilarity(a.sketch, b.sketch), SketchSimilarity(b.sketch, a.sketch));
    }
  }
}

TEST(Sketch, EstimatesTheSimilarityOfLargeSets) {
  std::mt19937_64 random(2);
  for (const size_t size : {300u, 1'000u, 20'000u}) {
    for (const double similarity : {0.2, 0.5, 0.8, 0.95}) {
      double sum = 0, worst = 0;
      constexpr int kPairs = 8;
      for (int i = 0; i < kPairs; ++i) {
        const Pair pair = RandomPair(
            random, size, static_cast<size_t>(2 * similarity / (1 + similarity) * static_cast<double>(size)));
        const Made a = MadeOf(pair.a), b = MadeOf(pair.b);
        EXPECT_GT(a.sketch.level, 0);
        EXPECT_GT(a.sketch.values.size(), kSketchMax / 3);
        EXPECT_LE(a.sketch.values.size(), kSketchMax);
        const double error = SketchSimilarity(a.sketch, b.sketch) - pair.similarity;
        sum += error;
        worst = std::max(worst, std::abs(error));
      }
      // With 128 to 256 samples, the standard error is at most 0.045.
      EXPECT_LT(worst, 0.16) << size << " " << similarity;
      EXPECT_LT(std::abs(sum / kPairs), 0.05) << size << " " << similarity;
    }
  }
}

TEST(Sketch, OfOtherLevelsAreComparedOnWhatBothHave) {
  std::mt19937_64 random(3);
  for (const size_t of_b : {257u, 500u, 1'000u, 4'000u}) {  // b contains a
    std::vector<uint64_t> b(of_b);
    for (uint64_t& shingle : b) shingle = random();
    const std::vector<uint64_t> a(b.begin(), b.begin() + 200);
    const Sketch sketch_a = MadeOf(a).sketch, sketch_b = MadeOf(b).sketch;
    EXPECT_LT(sketch_a.level, sketch_b.level);
    EXPECT_NEAR(SketchSimilarity(sketch_a, sketch_b), 200.0 / static_cast<double>(of_b), 0.08) << of_b;
    EXPECT_EQ(SketchSimilarity(sketch_a, sketch_b), SketchSimilarity(sketch_b, sketch_a));
  }
}

TEST(Sketch, ByHand) {
  const Sketch fine{0, {0x0001, 0x4000, 0x7fff, 0x8000}}, coarse{1, {0x0002, 0x8000, 0x8001, 0xfffe}};
  // 0x8000 of the finer sketch isn't in the coarser sample. 0x8000 and 0x8001 of the coarser sketch are both
  // 0x4000 on 15 bits.
  EXPECT_DOUBLE_EQ(SketchSimilarity(fine, coarse), 1.0);
  EXPECT_DOUBLE_EQ(SketchSimilarity(fine, {0, {0x0001, 0x0005}}), 0.2);
  EXPECT_DOUBLE_EQ(SketchSimilarity(fine, {9, {0x0001}}), 0);
  EXPECT_DOUBLE_EQ(SketchSimilarity(fine, {}), 0);
  EXPECT_DOUBLE_EQ(SketchSimilarity({}, {}), 0);
}

TEST(Sketch, DependsOnTheSetAlone) {
  std::mt19937_64 random(4);
  std::vector<uint64_t> shingles(5'000);
  for (uint64_t& shingle : shingles) shingle = random();
  const Made once = MadeOf(shingles);
  shingles.insert(shingles.end(), shingles.begin(), shingles.begin() + 2'000);
  std::shuffle(shingles.begin(), shingles.end(), random);
  const Made again = MadeOf(shingles);
  EXPECT_EQ(once.sketch, again.sketch);
  EXPECT_EQ(once.bands, again.bands);
  EXPECT_TRUE(std::is_sorted(once.sketch.values.begin(), once.sketch.values.end()));

  // By the definition: the lowest level that leaves at most kSketchMax shingles.
  std::sort(shingles.begin(), shingles.end());
  shingles.erase(std::unique(shingles.begin(), shingles.end()), shingles.end());
  int level = 0;
  while (std::count_if(shingles.begin(), shingles.end(), [&](uint64_t h) {
           return level == 0 || h >> (64 - level) == 0;
         }) > static_cast<ptrdiff_t>(kSketchMax)) {
    ++level;
  }
  EXPECT_EQ(once.sketch.level, level);
}

TEST(Containment, IsExactForUpTo256Shingles) {
  std::mt19937_64 random(7);
  const Pair pair = RandomPair(random, 100, 90);
  std::vector<uint64_t> longer = pair.b;
  while (longer.size() < 200) longer.push_back(random());
  const Sketch a = MadeOf(pair.a).sketch, b = MadeOf(longer).sketch;
  const auto found = ContainmentOf(a, b), back = ContainmentOf(b, a);
  ASSERT_TRUE(found && back);
  EXPECT_NEAR(found->contained, 0.9, 0.011);
  EXPECT_EQ(found->contained, back->contained);
  EXPECT_NEAR(found->shares, 0.5, 0.01);
  EXPECT_EQ(found->of, back->of);
  EXPECT_NEAR(static_cast<double>(found->of), 100, 1);
  EXPECT_TRUE(found->a_is_smaller);
  EXPECT_FALSE(back->a_is_smaller);
}

TEST(Containment, IsEstimatedWhereLevelsDiffer) {
  std::mt19937_64 random(8);
  for (const size_t size : {200u, 300u, 900u, 5'000u}) {
    for (const size_t percent : {110u, 150u, 200u, 240u}) {
      double sum = 0;
      constexpr int kTimes = 40;
      for (int i = 0; i < kTimes; ++i) {
        std::vector<uint64_t> shorter, longer;
        while (shorter.size() < size) shorter.push_back(random());
        longer.assign(shorter.begin(), shorter.end() - static_cast<ptrdiff_t>(size / 10));
        while (longer.size() < size * percent / 100) longer.push_back(random());
        const auto found = ContainmentOf(MadeOf(longer).sketch, MadeOf(shorter).sketch);
        ASSERT_TRUE(found);
        EXPECT_FALSE(found->a_is_smaller && percent >= 150);
        EXPECT_NEAR(found->contained, 0.9, 0.2) << size << " " << percent;
        sum += found->contained;
      }
      EXPECT_NEAR(sum / kTimes, 0.9, 0.03) << size << " " << percent;
    }
  }
}

TEST(Containment, IsUnknownWithoutASample) {
  EXPECT_FALSE(ContainmentOf({}, {0, {1, 2}}));
  EXPECT_FALSE(ContainmentOf({0, {1, 2}}, {}));
  EXPECT_FALSE(ContainmentOf({0, {1, 2}}, {9, {1, 2}})) << "levels too far apart";
}

TEST(Containment, LetsAdditionsHaveNumbers) {
  // Two bits of a value are its tag: 4 and 8 are numbers, 5 and 9 neighbours, 6 is a date, 7 a repeat.
  const NumberSketch none, one{0, {4}}, other{0, {8}}, two{0, {4, 8}}, dated{0, {4, 6}};
  EXPECT_TRUE(NumbersFitAdditions(none, none, 0));
  EXPECT_TRUE(NumbersFitAdditions(one, one, 0));
  EXPECT_TRUE(NumbersFitAdditions(one, two, kWordsANumber));
  EXPECT_FALSE(NumbersFitAdditions(one, two, kWordsANumber - 1)) << "a number alone is no addition";
  EXPECT_TRUE(NumbersFitAdditions(one, dated, kWordsADate));
  EXPECT_FALSE(NumbersFitAdditions(one, dated, kWordsADate - 1));
  EXPECT_TRUE(NumbersFitAdditions(one, {0, {4, 7}}, 0)) << "a headline that the body repeats";
  EXPECT_FALSE(NumbersFitAdditions(two, one, 1'000)) << "the longer text lacks a number";
  EXPECT_FALSE(NumbersFitAdditions(dated, one, 1'000)) << "or a date";
  EXPECT_FALSE(NumbersFitAdditions(one, other, 1'000));
  EXPECT_TRUE(NumbersFitAdditions({0, {4, 5, 8}}, {0, {4, 5, 8, 9, 12}}, kWordsANumber)) << "their order";
  EXPECT_FALSE(NumbersFitAdditions({0, {4, 5, 8}}, {0, {4, 8, 9, 12}}, 1'000)) << "another order";
  NumberSketch many, all_but_one;
  for (uint32_t value = 1; value <= 11; ++value) many.values.push_back(4 * value);
  EXPECT_TRUE(NumbersFitAdditions({0, {4, 5, 8}}, many, 1'000)) << "of many, no order is known";
  all_but_one.values.assign(many.values.begin() + 1, many.values.end());
  EXPECT_TRUE(NumbersFitAdditions(many, all_but_one, 0)) << "one of eleven may be missing";
  many.values.pop_back();
  all_but_one.values.pop_back();
  EXPECT_FALSE(NumbersFitAdditions(many, all_but_one, 0)) << "one of ten may not";
  // Additions of a sample stand for twice as many.
  EXPECT_FALSE(NumbersFitAdditions({1, {8}}, {1, {8, 16}}, 2 * kWordsANumber - 1));
  EXPECT_TRUE(NumbersFitAdditions({1, {8}}, {1, {8, 16}}, 2 * kWordsANumber));
  EXPECT_FALSE(NumbersFitAdditions({1, {8}}, {1, {8, 12}}, 2 * kWordsADate - 1));
  EXPECT_TRUE(NumbersFitAdditions({1, {8}}, {1, {8, 12}}, 2 * kWordsADate));
}

TEST(Bands, MeetAsOftenAsTheFormulaSays) {
  std::mt19937_64 random(5);
  constexpr int kPairs = 600;
  for (const double similarity : {0.5, 0.7, 0.8}) {
    int in_common = 0, bands_in_common = 0;
    double exact = 0;
    for (int i = 0; i < kPairs; ++i) {
      const Pair pair = RandomPair(random, 60, static_cast<size_t>(2 * similarity / (1 + similarity) * 60));
      const Made a = MadeOf(pair.a), b = MadeOf(pair.b);
      int same = 0;
      for (size_t band = 0; band < kBands; ++band) same += a.bands[band] == b.bands[band];
      in_common += same > 0;
      bands_in_common += same;
      exact = pair.similarity;
    }
    const double of_a_band = std::pow(exact, 4), of_any = 1 - std::pow(1 - of_a_band, kBands);
    const auto error = [](double p, double n) { return 4 * std::sqrt(p * (1 - p) / n); };
    EXPECT_NEAR(static_cast<double>(in_common) / kPairs, of_any, error(of_any, kPairs)) << similarity;
    EXPECT_NEAR(bands_in_common / static_cast<double>(kPairs * kBands), of_a_band,
                error(of_a_band, kPairs * kBands))
        << similarity;
  }
}

TEST(Bands, DifferFromOneAnotherAndAreZeroOfNothing) {
  const Made one = MadeOf({42});
  for (size_t i = 1; i < kBands; ++i) EXPECT_NE(one.bands[0], one.bands[i]);
  const Made none = MadeOf({});
  EXPECT_EQ(none.bands, (std::array<uint64_t, kBands>{}));
  EXPECT_TRUE(none.sketch.values.empty());
}

TEST(BandRows, AreTheMostThatFindAPairAtTheThreshold) {
  struct Case {
    double similarity_min;
    int rows;
  };
  constexpr Case kCases[] = {{0.3, 1}, {0.4, 1}, {0.5, 1}, {0.63, 2}, {0.74, 3}, {0.8, 4}, {0.9, 8}, {1, 8}};
  for (const auto& [similarity, rows] : kCases) {
    EXPECT_EQ(BandRows(similarity), rows) << similarity;
    const auto found = [&](int r) { return 1 - std::pow(1 - std::pow(similarity, r), kBands); };
    EXPECT_TRUE(rows == 1 || found(rows) >= 0.98) << similarity;
    EXPECT_TRUE(rows == 8 || found(rows + 1) < 0.98) << similarity;
  }
}

}  // namespace
}  // namespace seen
