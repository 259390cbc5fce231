#pragma once
// What the tests of several kinds of filters share.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/hashes.h"
#include "unit/filter/reference_bloom.h"

namespace seen::kind_checks {

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
  const std::vector<Fingerprint> asks = reference::RandomFingerprints(16, 5);
  std::vector<uint8_t> answers(asks.size());
  view.MightContainEach(asks, answers);
  for (size_t i = 0; i < asks.size(); ++i) EXPECT_EQ(view.MightContain(asks[i]), answers[i] == 1);
}

}  // namespace seen::kind_checks
