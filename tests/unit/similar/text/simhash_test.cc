#include "similar/text/simhash.h"

#include <gtest/gtest.h>

#include <random>

#include "similar/text/hash.h"
#include "similar/text/stop_words.h"

namespace seen {
namespace {

TEST(SimHasher, IsTheSignOfTheWeightedSumOfEachBit) {
  std::mt19937_64 random(7);
  SimHasher hasher;
  for (const size_t tokens : {0u, 1u, 2u, 63u, 64u, 65u, 1000u}) {
    std::array<int64_t, 64> sums{};
    for (size_t i = 0; i < tokens; ++i) {
      const uint64_t hash = random();
      const auto weight = static_cast<uint32_t>(random() % (SimHasher::kWeightMax + 1));
      hasher.Add(hash, weight);
      for (size_t bit = 0; bit < 64; ++bit) {
        sums[bit] += (hash >> bit & 1) != 0 ? static_cast<int64_t>(weight) : -static_cast<int64_t>(weight);
      }
    }
    uint64_t expected = 0;
    for (size_t bit = 0; bit < 64; ++bit) expected |= static_cast<uint64_t>(sums[bit] > 0) << bit;
    EXPECT_EQ(hasher.Finish(), expected) << tokens;
  }
}

TEST(SimHasher, CountsTokensOfOneWeightAlike) {
  std::mt19937_64 random(8);
  SimHasher one, each;
  for (const size_t tokens : {0u, 1u, 2u, 7u, 8u, 9u, 16u, 63u, 1000u, 70'000u}) {
    for (size_t i = 0; i < tokens; ++i) {
      const uint64_t hash = i % 3 == 0 ? 0xffff'0000'ffff'0000u : random();
      one.Add(hash, 1);
      each.AddOne(hash);
    }
    EXPECT_EQ(each.weight(), tokens);
    EXPECT_EQ(each.Finish(), one.Finish()) << tokens;
    EXPECT_EQ(each.weight(), 0u);
  }
}

TEST(SimHasher, DoesNotOverflow) {
  SimHasher hasher;
  for (int i = 0; i < 100'000; ++i) hasher.Add(0x8000'0000'0000'0001u, SimHasher::kWeightMax);
  for (int i = 0; i < 99'999; ++i) hasher.Add(0x4000'0000'0000'0000u, SimHasher::kWeightMax);
  EXPECT_EQ(hasher.Finish(), 0x8000'0000'0000'0001u);
}

TEST(SimHasher, IsOfAOneTokenTextItsHash) {
  SimHasher hasher;
  hasher.Add(0x0123'4567'89ab'cdefu, 1);
  EXPECT_EQ(hasher.Finish(), 0x0123'4567'89ab'cdefu);
  EXPECT_EQ(HammingDistance(0x0f, 0xf0), 8);
}

TEST(DistanceMax, IsStricterForShortTextsAndNeverMoreThanConfigured) {
  for (const ScriptClass script : {ScriptClass::kAlphabetic, ScriptClass::kDictionary}) {
    EXPECT_EQ(DistanceMax(3, LengthClass::kEmpty, script), -1);
    EXPECT_EQ(DistanceMax(3, LengthClass::kShort, script), 2);
    EXPECT_EQ(DistanceMax(3, LengthClass::kLong, script), 3);
    EXPECT_EQ(DistanceMax(1, LengthClass::kShort, script), 1);
    EXPECT_EQ(DistanceMax(0, LengthClass::kLong, script), 0);
  }
}

TEST(StopWords, GoByLanguage) {
  struct Case {
    std::string_view lang, word;
    bool is_one;
  };
  constexpr Case kCases[] = {
      {"en", "the", true},     {"en-GB", "the", true}, {"EN_us", "the", true}, {"en", "die", false},
      {"de", "die", true},     {"de", "the", false},   {"", "the", true},      {"", "的", true},
      {"zh-Hant", "與", true}, {"zh", "the", false},   {"xx", "的", true},     {"eng", "the", true},
      {"ja", "です", true},    {"fr", "été", true},    {"ru", "и", true},      {"en", "software", false}};
  for (const auto& [lang, word, is_one] : kCases) {
    EXPECT_EQ(StopWords::Of(lang).Contains(TokenHash(word)), is_one) << lang << " " << word;
  }
}

}  // namespace
}  // namespace seen
