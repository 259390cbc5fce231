#pragma once
// What every kind of filter must hold, whichever it is: written once, run on each. All seeded and bounded.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "model/hashes.h"
#include "unit/filter/kind_checks.h"
#include "unit/filter/reference_bloom.h"

namespace seen::kinds {

using reference::RandomFingerprints;

template <typename Filter>
std::string Rendered(std::span<const Fingerprint> fingerprints, double rate) {
  std::string payload;
  Filter::Render(fingerprints, rate, payload);
  return payload;
}

template <typename Filter>
std::string Serialised(const Filter& filter) {
  std::string payload;
  filter.Serialise(payload);
  return payload;
}

/// The view's answers, having asked one by one and all at once.
template <typename View>
std::vector<uint8_t> Answers(const View& view, std::span<const Fingerprint> questions) {
  std::vector<uint8_t> answers(questions.size(), 7);
  view.MightContainEach(questions, answers);
  for (size_t i = 0; i < questions.size(); ++i)
    EXPECT_EQ(answers[i], view.MightContain(questions[i]) ? 1 : 0)
        << "one by one and at once differ at " << i;
  return answers;
}

/// Render: every item is found, the size is as foretold; and an empty filter finds none.
template <typename Filter, typename View>
void HasNoFalseNegative(std::initializer_list<double> rates) {
  for (const double rate : rates) {
    for (const size_t count : kind_checks::ManyCounts()) {
      const auto fingerprints = RandomFingerprints(count, count + 1);
      const std::string payload = Rendered<Filter>(fingerprints, rate);
      if (Filter::kSizesExactly) {
        EXPECT_EQ(payload.size(), Filter::PayloadBytes(count, rate)) << count;
      }
      const auto view = View::Parse(payload);
      ASSERT_TRUE(view.has_value()) << count << " at " << rate << ": " << view.error().message;
      for (const uint8_t answer : Answers(*view, fingerprints))
        ASSERT_EQ(answer, 1) << count << " at " << rate;
      if (count > 0) continue;
      for (const uint8_t answer : Answers(*view, RandomFingerprints(1000, 3))) ASSERT_EQ(answer, 0);
    }
  }
}

/// A filter that takes items one by one answers right while it fills, itself and as a payload.
template <typename Filter, typename View>
void FillsOneByOne(std::initializer_list<double> rates) {
  for (const double rate : rates) {
    for (const size_t count : {0u, 1u, 2u, 3u, 5u, 10u, 33u, 64u, 65u, 100u, 130u, 1000u, 3000u}) {
      const auto fingerprints = RandomFingerprints(count, 3 * count + 1);
      Filter filter(count, rate);
      for (size_t i = 0; i < count; ++i) {
        if constexpr (std::is_void_v<decltype(filter.Insert(fingerprints[i]))>) {
          filter.Insert(fingerprints[i]);
        } else {
          ASSERT_TRUE(filter.Insert(fingerprints[i])) << i << " of " << count << " at " << rate;
        }
        ASSERT_TRUE(filter.MightContain(fingerprints[i])) << i << " of " << count << " at " << rate;
      }
      const std::string payload = Serialised(filter);
      const auto view = View::Parse(payload);
      ASSERT_TRUE(view.has_value()) << count << " at " << rate << ": " << view.error().message;
      for (const uint8_t answer : Answers(*view, fingerprints)) ASSERT_EQ(answer, 1);
      const auto questions = RandomFingerprints(500, 77);
      const auto answers = Answers(*view, questions);
      for (size_t i = 0; i < questions.size(); ++i)
        ASSERT_EQ(answers[i], filter.MightContain(questions[i]) ? 1 : 0) << count << " at " << rate;
    }
  }
}

/// Of `lookups` in all, for `sets` sets of `count` items.
template <typename Filter, typename View>
double MeasuredRate(size_t count, double rate, size_t sets, size_t lookups) {
  kind_checks::Positives positives;
  for (uint64_t set = 0; set < sets; ++set) {
    const auto fingerprints = RandomFingerprints(count, 7 * set + 1);
    const std::string payload = Rendered<Filter>(fingerprints, rate);
    const auto view = View::Parse(payload);
    EXPECT_TRUE(view.has_value());
    positives.Ask(*view, fingerprints, lookups / sets, set + count);
  }
  return positives.Rate();
}

struct RateCase {
  size_t count;
  double rate;
  size_t sets;
  double least =
      0;  // the measured rate is at least this share of `rate`: what a kind that can choose reaches
};

/// The measured rate is at most the one asked for: by four standard deviations of chance, and 3% for chance
/// in the sets.
template <typename Filter, typename View>
void HoldsTheRate(std::initializer_list<RateCase> cases) {
  constexpr size_t kLookUps = 1'000'000;
  for (const RateCase& c : cases) {
    const double measured = MeasuredRate<Filter, View>(c.count, c.rate, c.sets, kLookUps);
    const double noise = 4 * std::sqrt(c.rate / kLookUps) + 0.03 * c.rate;
    EXPECT_LE(measured, c.rate + noise) << c.count << " items at " << c.rate;
    EXPECT_GE(measured, c.least * c.rate - noise) << c.count << " items at " << c.rate;
  }
}

/// The payload depends on the set alone, and is appended to what is there.
template <typename Filter>
void DependsOnTheSetNotOnOrder(std::initializer_list<double> rates) {
  for (const double rate : rates) {
    for (const size_t count : {2u, 10u, 65u, 1000u, 3000u}) {
      auto fingerprints = RandomFingerprints(count, 17);
      const std::string expected = Rendered<Filter>(fingerprints, rate);
      for (const uint32_t seed : {3u, 4u, 5u}) {
        std::shuffle(fingerprints.begin(), fingerprints.end(), std::mt19937_64(seed));
        std::string payload = "before";
        Filter::Render(fingerprints, rate, payload);
        EXPECT_EQ(payload.substr(0, 6), "before");
        EXPECT_EQ(payload.substr(6), expected) << count << " at " << rate;
      }
    }
  }
}

/// Payloads as they are, and changed, cut and grown at random: refused or answered, never an over-read.
template <typename View>
void SurvivesMutations(std::span<const std::string> payloads) {
  kind_checks::Mutate<View>(payloads, 20'000, [](const View& view) { kind_checks::AskSome(view); });
}

}  // namespace seen::kinds
