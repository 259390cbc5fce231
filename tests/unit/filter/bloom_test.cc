#include "filter/bloom.h"

#include <gtest/gtest.h>

#include "filter/snapshot_format.h"
#include "filters/mutable/mutable_bloom.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using kinds::Rendered;
using reference::RandomFingerprints;

/// As schemas/snapshot.md has it, bit by bit.
bool ReferenceMightContain(const std::string& payload, Fingerprint fingerprint) {
  const uint64_t m = 8 * (payload.size() - 1);
  uint64_t g = reference::HashOf(fingerprint);
  for (int i = 0; i < payload[0]; ++i) {
    const uint64_t bit = (g >> 32) * m >> 32;
    if ((static_cast<uint8_t>(payload[1 + bit / 8]) >> (bit % 8) & 1) == 0) return false;
    g *= 0xd1342543de82ef95U;
  }
  return true;
}

TEST(Bloom, HoldsTheRateAskedForWithoutPaddingItAway) {
  kinds::HoldsTheRate<BloomFilter, BloomView>({{1, 0.01, 2000},
                                               {10, 0.01, 1000, 0.6},
                                               {100, 0.01, 400, 0.9},
                                               {3000, 0.01, 40, 0.97},
                                               {20'000, 0.01, 10, 0.97},
                                               {10, 0.001, 1000, 0.6},
                                               {100, 0.001, 400, 0.9},
                                               {3000, 0.001, 40, 0.97},
                                               {100, 0.3, 400, 0.9}});
}

TEST(Bloom, IsLaidOutAsSpecified) {
  const auto questions = RandomFingerprints(2000, 5);
  for (const double rate : {0.4, 0.01, 1e-7}) {
    for (const size_t count : {1u, 3u, 40u, 700u}) {
      const std::string payload = Rendered<BloomFilter>(RandomFingerprints(count, count), rate);
      const auto view = BloomView::Parse(payload);
      ASSERT_TRUE(view.has_value());
      kinds::AnswersAs(*view, questions, [&](Fingerprint f) { return ReferenceMightContain(payload, f); });
    }
  }
}

TEST(Bloom, MergesFiltersOfOneSize) {
  auto [merged, both] = kinds::MergesHalves<MutableBloom>(1000, 0.01, 9, 3);
  kinds::RefusesToMerge(merged, MutableBloom(1001, 0.001));
}

/// The rate as its definition has it: after each throw, how likely which number of places is taken.
double ReferenceRate(size_t count, uint32_t probes, uint32_t places) {
  std::vector<long double> taken(places + 1, 0);
  taken[0] = 1;
  for (size_t thrown = 0; thrown < count * probes; ++thrown) {
    for (uint32_t x = places; x > 0; --x)
      taken[x] = taken[x] * x / places + taken[x - 1] * (places - x + 1) / places;
    taken[0] = 0;
  }
  long double rate = 0;
  for (uint32_t x = 0; x <= places; ++x)
    rate += taken[x] * std::pow(static_cast<long double>(x) / places, static_cast<long double>(probes));
  return static_cast<double>(rate);
}

TEST(BloomSize, HasTheExactRate) {
  for (const size_t count : {0u, 1u, 2u, 7u, 30u}) {
    for (const uint32_t probes : {1u, 2u, 3u, 7u, 20u, 32u}) {
      for (const uint32_t places : {1u, 2u, 8u, 24u, 100u, 1400u}) {
        const double expected = ReferenceRate(count, probes, places);
        EXPECT_NEAR(bloom::FalsePositiveRate(count, probes, places), expected,
                    1e-6 * expected + (probes > 20 ? 1e-10 : 1e-14))
            << count << " items, " << probes << " of " << places;
      }
    }
  }
}

TEST(BloomSize, TakesTheFewestBytesOverAllProbes) {
  for (const uint32_t places_per_byte : {8u, 2u}) {
    for (const double rate : {0.5, 0.2, 0.01, 0.001, 1e-6, 1e-9}) {
      EXPECT_EQ(bloom::SizeFor(0, rate, places_per_byte).place_bytes, 1u);
      for (const size_t count : {1u, 2u, 3u, 10u, 33u, 100u, 3000u, 20'000u}) {
        const bloom::Size size = bloom::SizeFor(count, rate, places_per_byte);
        EXPECT_LE(bloom::FalsePositiveRate(count, size.probes, size.place_bytes * places_per_byte), rate);
        for (uint32_t probes = 1; probes <= bloom::kProbesMax; ++probes) {
          const uint32_t fewer = size.place_bytes - (probes < size.probes ? 0 : 1);
          if (fewer == 0) continue;
          EXPECT_GT(bloom::FalsePositiveRate(count, probes, fewer * places_per_byte), rate)
              << count << " items at " << rate << ": " << probes << " probes of " << fewer << " bytes";
        }
      }
    }
  }
  EXPECT_EQ(bloom::SizeFor(1000, 1e-300, 8).place_bytes, bloom::SizeFor(1000, kRateMin, 8).place_bytes);
}

TEST(BloomDeathTest, RefusesARateOutsideItsRange) {
  for (const double rate : {0.0, -0.01, 0.51, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_DEATH((void)BloomFilter::PayloadBytes(10, rate), "0, 0.5");
  }
}

}  // namespace
}  // namespace seen
