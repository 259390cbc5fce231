#pragma once
// Helpers for the tests of all kinds of filters. each_kind_test.cc has the tests that every kind must pass.
// All seeded and bounded.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "filter/snapshot_format.h"
#include "model/hashes.h"
#include "unit/filter/reference_bloom.h"

namespace seen::kinds {

using reference::RandomFingerprints;

/// Counts that cross every threshold of a small filter, and some of larger ones.
inline std::vector<size_t> ManyCounts() {
  std::vector<size_t> counts;
  for (size_t count = 0; count <= 130; ++count) counts.push_back(count);
  counts.insert(counts.end(), {1000, 3000, 10'000});
  return counts;
}

inline std::vector<Fingerprint> Shuffled(std::vector<Fingerprint> fingerprints, uint64_t seed) {
  std::shuffle(fingerprints.begin(), fingerprints.end(), std::mt19937_64(seed));
  return fingerprints;
}

/// Bits from a string, one at a time: what the fast readers are compared with.
inline uint64_t Bits(std::string_view bytes, uint64_t at, uint32_t width) {
  uint64_t value = 0;
  for (uint32_t j = 0; j < width; ++j) {
    const auto byte = static_cast<unsigned char>(bytes.at((at + j) / 8));
    value |= uint64_t{(byte >> ((at + j) % 8)) & 1u} << j;
  }
  return value;
}

inline uint32_t U32(std::string_view bytes, size_t at) {
  return static_cast<uint32_t>(Bits(bytes, 8 * at, 32));
}

/// False positives among random questions; `sorted` is what is in.
struct Positives {
  uint64_t asked = 0;
  uint64_t positive = 0;

  template <typename View>
  void Ask(const View& view, std::span<const Fingerprint> sorted, size_t questions, uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<Fingerprint> asks(questions);
    for (Fingerprint& ask : asks) ask.value = static_cast<uint32_t>(random());
    std::vector<uint8_t> answers(questions);
    view.MightContainEach(asks, answers);
    for (size_t i = 0; i < asks.size(); ++i) {
      if (answers[i] == 1 && std::binary_search(sorted.begin(), sorted.end(), asks[i])) continue;
      ++asked;
      positive += answers[i];
    }
  }
  double Rate() const { return static_cast<double>(positive) / static_cast<double>(asked); }
  /// `count` standard deviations of what would be measured at `rate`.
  double Deviations(double rate, double count) const {
    return count * std::sqrt(rate * (1 - rate) / static_cast<double>(asked));
  }
};

/// Parses `rounds` mutations of each payload from a buffer of exactly their size, and calls `ask` with the
/// view where it was taken: neither may read outside, nor hang, nor crash.
template <typename View, typename Ask>
void Mutate(std::span<const std::string> payloads, size_t rounds, Ask ask) {
  std::mt19937_64 random(7);
  size_t taken = 0;
  for (size_t round = 0; round < rounds; ++round) {
    std::string bytes = payloads[round % payloads.size()];
    const size_t changes = random() % 4;
    for (size_t i = 0; i < changes; ++i) {
      switch (random() % 5) {
        case 0:
          if (!bytes.empty()) bytes[random() % bytes.size()] ^= static_cast<char>(1 << random() % 8);
          break;
        case 1:
          if (!bytes.empty())
            bytes[random() % std::min<size_t>(bytes.size(), 20)] = static_cast<char>(random());
          break;
        case 2:
          bytes.resize(random() % (bytes.size() + 1));
          break;
        case 3:
          bytes.append(random() % 40, static_cast<char>(random()));
          break;
        default:
          if (bytes.size() >= 4) {
            const uint32_t extremes[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x40000000};
            std::memcpy(bytes.data() + random() % std::min<size_t>(bytes.size() - 3, 24),
                        &extremes[random() % 6], 4);
          }
      }
    }
    const std::unique_ptr<char[]> exact(new char[bytes.size()]);
    std::copy(bytes.begin(), bytes.end(), exact.get());
    const auto view = View::Parse({exact.get(), bytes.size()});
    if (!view.has_value()) {
      EXPECT_EQ(view.error().code, Code::kMalformed);
      EXPECT_TRUE(view.error().message.starts_with("payload: ")) << view.error().message;
      continue;
    }
    ++taken;
    ask(*view);
  }
  EXPECT_GT(taken, rounds / 10);  // else nothing has been tried
}

/// The questions a mutated view is asked.
template <typename View>
void AskSome(const View& view) {
  const std::vector<Fingerprint> asks = RandomFingerprints(16, 5);
  std::vector<uint8_t> answers(asks.size());
  view.MightContainEach(asks, answers);
  for (size_t i = 0; i < asks.size(); ++i) EXPECT_EQ(view.MightContain(asks[i]), answers[i] == 1);
}

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

/// Refuses to take `other` in, and stays as it is.
template <typename Filter>
void RefusesToMerge(Filter& filter, const Filter& other, std::string_view what = "") {
  const std::string before = Serialised(filter);
  const Status refused = filter.Merge(other);
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(refused.error().code, Code::kInvalidArgument);
  EXPECT_NE(refused.error().message.find(what), std::string::npos) << refused.error().message;
  EXPECT_EQ(Serialised(filter), before);
}

/// Two filters of one size, merged, are the filter of all items. The first has one item of `every`.
/// Returns the merged filter and that of all.
template <typename Filter>
std::pair<Filter, Filter> MergesHalves(size_t count, double rate, uint64_t seed, size_t every) {
  const auto all = RandomFingerprints(count, seed);
  Filter left(count, rate), right(count, rate), both(count, rate);
  for (size_t i = 0; i < all.size(); ++i) {
    (void)(i % every == 0 ? left : right).Insert(all[i]);
    (void)both.Insert(all[i]);
  }
  EXPECT_TRUE(left.Merge(right).has_value());
  EXPECT_EQ(Serialised(left), Serialised(both));
  return {std::move(left), std::move(both)};
}

/// The view answers random questions as `reference` does, one by one and all at once.
template <typename View, typename Reference>
void AnswersAs(const View& view, std::span<const Fingerprint> questions, const Reference& reference) {
  const auto answers = Answers(view, questions);
  for (size_t i = 0; i < questions.size(); ++i) ASSERT_EQ(answers[i] == 1, reference(questions[i]));
}

/// All of `fingerprints`, asked at once.
template <typename View>
void HoldsAll(const View& view, std::span<const Fingerprint> fingerprints) {
  std::vector<uint8_t> answers(fingerprints.size());
  view.MightContainEach(fingerprints, answers);
  EXPECT_EQ(answers, std::vector<uint8_t>(fingerprints.size(), 1)) << fingerprints.size();
}

/// Of `lookups` in all, for `sets` sets of `count` items.
template <typename Filter, typename View>
double MeasuredRate(size_t count, double rate, size_t sets, size_t lookups) {
  Positives positives;
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
void HoldsTheRate(std::initializer_list<RateCase> cases, size_t lookups = 1'000'000) {
  for (const RateCase& c : cases) {
    const double measured = MeasuredRate<Filter, View>(c.count, c.rate, c.sets, lookups);
    const double noise = 4 * std::sqrt(c.rate / static_cast<double>(lookups)) + 0.03 * c.rate;
    EXPECT_LE(measured, c.rate + noise) << c.count << " items at " << c.rate;
    EXPECT_GE(measured, c.least * c.rate - noise) << c.count << " items at " << c.rate;
  }
}

// Items spread over days, for the kinds that know days.
inline constexpr uint32_t kSecondsADay = 86'400;
inline constexpr int32_t kNewest = 20'000;

// `counts[i]` items on the i-th day, the newest first.
struct Days {
  std::vector<std::vector<Fingerprint>> fingerprints;
  std::vector<DayOfItems> days;
  std::vector<Fingerprint> all;  // ascending

  explicit Days(const std::vector<size_t>& counts, uint64_t seed = 1) {
    size_t count = 0;
    for (const size_t c : counts) count += c;
    all = RandomFingerprints(count, seed);
    auto left = Shuffled(all, seed);
    for (const size_t c : counts) {
      fingerprints.emplace_back(left.end() - static_cast<ptrdiff_t>(c), left.end());
      left.resize(left.size() - c);
      std::sort(fingerprints.back().begin(), fingerprints.back().end());
    }
    for (size_t i = 0; i < counts.size(); ++i) {
      const int32_t day = kNewest - 2 * static_cast<int32_t>(i);
      const uint32_t first = static_cast<uint32_t>(day) * kSecondsADay + 100;
      days.push_back({{day}, first, first + 1000, fingerprints[i]});
    }
  }
};

}  // namespace seen::kinds
