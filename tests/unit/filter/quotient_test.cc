#include "filter/quotient.h"

#include <gtest/gtest.h>

#include <bit>
#include <map>
#include <set>

#include "filters/mutable/mutable_quotient.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using kinds::Bits;
using kinds::Rendered;
using kinds::Serialised;
using kinds::U32;
using reference::RandomFingerprints;

/// A payload as schemas/snapshot.md has it, one bit at a time.
struct Reference {
  uint32_t r;
  uint64_t quotients;
  uint64_t slots;
  std::string bytes;

  static Reference Of(const std::string& payload) {
    return {static_cast<uint8_t>(payload[0]), U32(payload, 1), U32(payload, 5), payload.substr(9)};
  }
  uint64_t At(uint64_t block) const { return 8 * block * (18 + 8 * r); }  // in bits
  uint64_t Offset(uint64_t block) const { return Bits(bytes, At(block), 16); }
  bool Occupied(uint64_t q) const { return Bits(bytes, At(q / 64) + 16 + q % 64, 1) == 1; }
  bool RunEnd(uint64_t s) const { return Bits(bytes, At(s / 64) + 80 + s % 64, 1) == 1; }
  uint32_t Remainder(uint64_t s) const {
    return static_cast<uint32_t>(Bits(bytes, At(s / 64) + 144 + s % 64 * r, r));
  }
  std::pair<uint64_t, uint32_t> ValueOf(Fingerprint fingerprint) const {
    const uint64_t y = (reference::HashOf(fingerprint) >> 32) * quotients;
    return {y >> 32, static_cast<uint32_t>(y) >> (32 - r)};
  }
  bool MightContain(Fingerprint fingerprint) const {
    const auto [quotient, remainder] = ValueOf(fingerprint);
    const uint64_t b = quotient / 64;
    if (!Occupied(quotient)) return false;
    uint64_t d = 0;
    for (uint64_t q = 64 * b; q <= quotient; ++q) d += Occupied(q) ? 1U : 0U;
    uint64_t end = 64 * b + Offset(b);
    for (;; ++end) {
      if (RunEnd(end) && --d == 0) break;
    }
    for (uint64_t slot = end;; --slot) {
      if (Remainder(slot) == remainder) return true;
      if (slot == quotient || RunEnd(slot - 1)) return false;
    }
  }
  /// All that stand in it.
  std::multiset<std::pair<uint64_t, uint32_t>> Values() const {
    std::multiset<std::pair<uint64_t, uint32_t>> values;
    uint64_t slot = 0;
    for (uint64_t quotient = 0; quotient < quotients; ++quotient) {
      if (!Occupied(quotient)) continue;
      slot = std::max(slot, quotient);
      do {
        values.emplace(quotient, Remainder(slot));
      } while (!RunEnd(slot++));
    }
    return values;
  }
  /// The bytes of a filter of these values and this geometry: there is one way to write them.
  std::string BytesOf(const std::multiset<std::pair<uint64_t, uint32_t>>& values) const {
    std::string out(bytes.size(), '\0');
    const auto put = [&](uint64_t at, uint64_t value) {
      for (; value != 0; value >>= 1, ++at)
        if ((value & 1) != 0)
          out[at / 8] = static_cast<char>(static_cast<uint8_t>(out[at / 8]) | 1U << (at % 8));
    };
    std::map<uint64_t, uint64_t> behind;  // of a quotient, the slot behind its run
    uint64_t slot = 0;
    for (auto value = values.begin(); value != values.end(); ++value) {
      const uint64_t quotient = value->first;
      slot = std::max(slot, quotient);
      put(At(slot / 64) + 144 + slot % 64 * r, value->second);
      if (!behind.contains(quotient)) put(At(quotient / 64) + 16 + quotient % 64, 1);
      if (const auto next = std::next(value); next == values.end() || next->first != quotient)
        put(At(slot / 64) + 80 + slot % 64, 1);
      behind[quotient] = ++slot;
    }
    for (uint64_t block = 1; 64 * block < slots; ++block) {
      const auto after = behind.lower_bound(64 * block);
      if (after == behind.begin()) continue;
      const uint64_t last = std::prev(after)->second;
      if (last > 64 * block) put(At(block), last - 64 * block);
    }
    return out;
  }
};

TEST(Quotient, HoldsTheRateAskedForWithoutPaddingItAway) {
  kinds::HoldsTheRate<QuotientFilter, QuotientView>({{1, 0.01, 2000, 0.5},
                                                     {10, 0.01, 1000, 0.5},
                                                     {100, 0.01, 400, 0.9},
                                                     {3000, 0.01, 40, 0.97},
                                                     {20'000, 0.01, 10, 0.97},
                                                     {100, 0.001, 400, 0.9},
                                                     {3000, 0.001, 40, 0.97},
                                                     {3000, 0.0077, 40, 0.97},
                                                     {3000, 0.3, 40, 0.97}});
}

TEST(Quotient, IsLaidOutAsSpecified) {
  const auto questions = RandomFingerprints(1000, 5);
  for (const double rate : {0.4, 0.0077, 0.01, 1e-7}) {
    for (const size_t count : {0u, 1u, 3u, 40u, 64u, 65u, 700u, 3000u}) {
      const auto fingerprints = RandomFingerprints(count, count);
      const std::string payload = Rendered<QuotientFilter>(fingerprints, rate);
      const Reference reference = Reference::Of(payload);
      std::multiset<std::pair<uint64_t, uint32_t>> values;
      for (const Fingerprint fingerprint : fingerprints) {
        const auto value = reference.ValueOf(fingerprint);
        if (!values.contains(value)) values.insert(value);
      }
      ASSERT_EQ(reference.Values(), values);
      ASSERT_EQ(reference.BytesOf(values), reference.bytes) << count << " at " << rate;
      const auto view = QuotientView::Parse(payload);
      ASSERT_TRUE(view.has_value());
      kinds::AnswersAs(*view, questions, [&](Fingerprint f) { return reference.MightContain(f); });
    }
  }
}

TEST(Quotient, RendersAsFullAsCanBe) {
  // 9 bytes of fields, 18 a block, and r bits a slot: few slots more than items, within what was foretold.
  for (const size_t count : {100u, 1000u, 3000u, 10'000u}) {
    const std::string payload = Rendered<QuotientFilter>(RandomFingerprints(count, 6), 0.01);
    EXPECT_EQ(payload[0], 7);
    EXPECT_LE(U32(payload, 5), count + 12);
    EXPECT_NEAR(static_cast<double>(payload.size()),
                static_cast<double>(QuotientFilter::PayloadBytes(count, 0.01)),
                32 + 0.005 * static_cast<double>(count));
  }
}

TEST(Quotient, RendersWhereRunsStandFarBehindTheirQuotients) {
  // At 1% a million items have 780,000 quotients: without a thought for it offsets would pass 16 bits.
  const auto fingerprints = RandomFingerprints(1'000'000, 8);
  const std::string payload = Rendered<QuotientFilter>(fingerprints, 0.01);
  const auto view = QuotientView::Parse(payload);
  ASSERT_TRUE(view.has_value()) << view.error().message;
  std::vector<uint8_t> answers(fingerprints.size());
  view->MightContainEach(fingerprints, answers);
  EXPECT_EQ(std::count(answers.begin(), answers.end(), 1), 1'000'000);
  EXPECT_LE(payload.size() * 8, 9'400'000u);
}

TEST(Quotient, TakesAndGivesBackAsAMultisetDoes) {
  for (const size_t size : {3u, 60u, 130u, 500u}) {
    for (const double rate : {0.3, 0.01}) {
      std::mt19937_64 random(size);
      const auto universe = RandomFingerprints(3 * size, size);
      MutableQuotient filter(size, rate);
      const Reference geometry = Reference::Of(Serialised(filter));
      std::multiset<std::pair<uint64_t, uint32_t>> values;
      size_t refused = 0;
      size_t full = 0;
      for (int step = 0; step < 4000; ++step) {
        const Fingerprint fingerprint = universe[random() % universe.size()];
        const auto value = geometry.ValueOf(fingerprint);
        // Grows until it is full, later shrinks.
        if (random() % 100 < (step < 2500 ? 65U : 35U)) {
          if (filter.Insert(fingerprint)) {
            values.insert(value);
          } else {
            ++full;
          }
        } else if (const auto at = values.find(value); at != values.end()) {
          ASSERT_TRUE(filter.Remove(fingerprint));
          values.erase(at);
        } else {
          ASSERT_FALSE(filter.Remove(fingerprint));
          ++refused;
        }
        ASSERT_EQ(filter.size(), values.size());
        ASSERT_EQ(filter.MightContain(fingerprint), values.contains(value));
        if (step % 10 == 0) {
          const std::string payload = Serialised(filter);
          ASSERT_EQ(payload.substr(9), geometry.BytesOf(values))
              << size << " at " << rate << ", step " << step;
          ASSERT_TRUE(QuotientView::Parse(payload).has_value());
        }
      }
      EXPECT_GT(refused, 100u);
      EXPECT_GT(full, 0u);
    }
  }
}

TEST(Quotient, GrowsWithoutForgetting) {
  const auto fingerprints = RandomFingerprints(4000, 2);
  MutableQuotient filter(100, 0.001);
  size_t grown = 0;
  for (const Fingerprint fingerprint : fingerprints) {
    while (!filter.Insert(fingerprint)) {
      const size_t size = filter.size();
      ASSERT_TRUE(filter.Grow());
      ASSERT_EQ(filter.size(), size);
      ++grown;
    }
  }
  EXPECT_GE(grown, 4u);
  const std::string payload = Serialised(filter);
  const Reference reference = Reference::Of(payload);
  std::multiset<std::pair<uint64_t, uint32_t>> values;
  for (const Fingerprint fingerprint : fingerprints) {
    ASSERT_TRUE(filter.MightContain(fingerprint));
    values.insert(reference.ValueOf(fingerprint));
  }
  EXPECT_EQ(payload.substr(9), reference.BytesOf(values));
  while (filter.Grow()) continue;
  EXPECT_EQ(Serialised(filter)[0], 1);
  for (const Fingerprint fingerprint : fingerprints) ASSERT_TRUE(filter.Remove(fingerprint));
  EXPECT_EQ(filter.size(), 0u);
}

TEST(Quotient, MergesFiltersOfOneGeometry) {
  auto [merged, both] = kinds::MergesHalves<MutableQuotient>(1000, 0.01, 9, 3);
  EXPECT_EQ(merged.size(), 1000u);
  EXPECT_EQ(both.size(), 1000u);
  kinds::RefusesToMerge(merged, MutableQuotient(1200, 0.01));  // another geometry
  kinds::RefusesToMerge(merged, both);                         // too many
}

TEST(Quotient, SelectsBits) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 2000; ++round) {
    uint64_t word = random();
    if (round % 3 == 0) word &= random() & random();
    if (round % 3 == 1) word |= random() | random();
    if (round == 5) word = ~uint64_t{0};
    uint32_t rank = 0;
    for (uint32_t bit = 0; bit < 64; ++bit)
      if ((word >> bit & 1) != 0) {
        ASSERT_EQ(quotient::SelectBit(word, rank++), bit);
      }
  }
}

}  // namespace
}  // namespace seen
