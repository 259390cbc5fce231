#include "filter/exact_fingerprints.h"

#include <set>

#include "filter/sort_keys.h"
#include "filters/mutable/mutable_fingerprints.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using namespace kinds;

std::string Rendered(std::span<const Fingerprint> fingerprints) {
  std::string payload;
  ExactFingerprintsFilter::Render(fingerprints, 0.01, payload);
  return payload;
}

// The set as schemas/snapshot.md has it, a bit at a time.
std::vector<Fingerprint> Read(const std::string& payload) {
  const auto k = static_cast<uint32_t>(payload.at(0));
  const std::string rest = payload.substr(5);
  uint64_t at = 0;
  uint64_t next = 0;
  std::vector<Fingerprint> values;
  for (uint32_t i = 0; i < U32(payload, 1); ++i) {
    uint64_t gap = 0;
    while (Bits(rest, at++, 1) == 0) gap += uint64_t{1} << k;
    gap += Bits(rest, at, k);
    at += k;
    values.push_back({static_cast<uint32_t>(next + gap)});
    next += gap + 1;
  }
  EXPECT_EQ((at + 7) / 8, rest.size());
  return values;
}

TEST(ExactFingerprints, HoldsTheSetAndNothingElse) {
  for (const size_t count : ManyCounts()) {
    const auto fingerprints = RandomFingerprints(count, count);
    const std::string payload = Rendered(fingerprints);
    EXPECT_EQ(Read(payload), fingerprints);
    const auto view = ExactFingerprintsView::Parse(payload);
    ASSERT_TRUE(view.has_value()) << view.error().message;
    EXPECT_EQ(view->Fingerprints(), fingerprints);
    Positives positives;
    positives.Ask(*view, fingerprints, 1000, 3);
    EXPECT_EQ(positives.positive, 0u);
    HoldsAll(*view, fingerprints);
    if (count > 0) {
      EXPECT_TRUE(view->MightContain(fingerprints[count / 2]));
    }
  }
}

TEST(ExactFingerprints, HoldsTheFirstAndTheLastFingerprintThereAre) {
  const std::vector<Fingerprint> ends = {{0}, {1}, {0xfffffffe}, {0xffffffff}};
  for (const auto& set : {std::vector<Fingerprint>{{0}}, std::vector<Fingerprint>{{0xffffffff}}, ends}) {
    EXPECT_EQ(Read(Rendered(set)), set);
    EXPECT_EQ(ExactFingerprintsView::Parse(Rendered(set))->Fingerprints(), set);
  }
}

TEST(SortKeys, SortsAnyOrder) {
  for (const size_t count : {2u, 100u, 255u, 256u, 257u, 5000u}) {
    const auto fingerprints = RandomFingerprints(count, 17);
    std::vector<Fingerprint> copy;
    const auto shuffled = Shuffled(fingerprints, 4);
    const auto sorted = Sorted(shuffled, copy);
    EXPECT_TRUE(std::equal(sorted.begin(), sorted.end(), fingerprints.begin(), fingerprints.end()));
  }
}

TEST(ExactFingerprints, MayHoldNothingWithAnyParameter) {
  EXPECT_TRUE(ExactFingerprintsView::Parse(std::string("\x1f\0\0\0\0", 5)).has_value());
}

TEST(ExactFingerprints, TakesTheFewestBytesOfAllParameters) {
  for (const size_t count : {1u, 2u, 3u, 10u, 100u, 3000u}) {
    for (uint64_t seed = 0; seed < 20; ++seed) {
      const auto fingerprints = RandomFingerprints(count, seed);
      size_t fewest = SIZE_MAX;
      for (uint32_t k = 0; k <= kRiceParameterMax; ++k) fewest = std::min(fewest, RiceBytes(fingerprints, k));
      EXPECT_EQ(Rendered(fingerprints).size(), 5 + fewest);
    }
  }
}

TEST(ExactFingerprints, ExpectsTheSizeThatRandomSetsHave) {
  EXPECT_EQ(ExactFingerprintsFilter::PayloadBytes(0, 0.01), 5u);
  for (const size_t count : {1u, 10u, 100u, 1000u, 20'000u, 100'000u}) {
    const size_t sets = 200'000 / (count + 500);
    double sum = 0;
    for (uint64_t seed = 0; seed < sets; ++seed) {
      sum += static_cast<double>(Rendered(RandomFingerprints(count, seed)).size());
    }
    const double mean = sum / static_cast<double>(sets);
    EXPECT_NEAR(static_cast<double>(ExactFingerprintsFilter::PayloadBytes(count, 0.01)), mean,
                1 + 0.01 * mean);
  }
}

TEST(ExactFingerprints, FollowsASetThroughInsertionsRemovalsAndMerges) {
  std::mt19937_64 random(11);
  MutableFingerprints filter(100, 0.01);
  std::set<Fingerprint> set;
  for (int i = 0; i < 5000; ++i) {
    const Fingerprint fingerprint = {static_cast<uint32_t>(random() % 300)};
    switch (random() % 8) {
      case 0: {
        MutableFingerprints other(3, 0.1);
        for (uint32_t j = 0; j < 3; ++j) {
          other.Insert({fingerprint.value + j});
          set.insert({fingerprint.value + j});
        }
        ASSERT_TRUE(filter.Merge(other).has_value());
        break;
      }
      case 1:
      case 2:
        filter.Insert(fingerprint);
        set.insert(fingerprint);
        break;
      default:
        EXPECT_EQ(filter.Remove(fingerprint), set.erase(fingerprint) == 1);
    }
    const Fingerprint question = {static_cast<uint32_t>(random() % 300)};
    EXPECT_EQ(filter.MightContain(question), set.contains(question));
  }
  std::string payload;
  filter.Serialise(payload);
  EXPECT_EQ(Read(payload), std::vector<Fingerprint>(set.begin(), set.end()));
}

}  // namespace
}  // namespace seen
