#include "filter/d_left.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "filters/mutable/mutable_d_left.h"
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
  uint32_t cells;
  uint64_t buckets;
  std::string bytes;
  using Value = std::pair<uint64_t, uint64_t>;  // first, remainder

  static Reference Of(const std::string& payload) {
    return {static_cast<uint8_t>(payload[0]), static_cast<uint8_t>(payload[1]), U32(payload, 2),
            payload.substr(6)};
  }
  Value ValueOf(Fingerprint fingerprint) const {
    const uint64_t h = reference::HashOf(fingerprint);
    return {(h >> 32) * buckets >> 32, h & ((uint64_t{1} << r) - 1)};
  }
  uint64_t Shift(uint64_t remainder, int table) const {
    constexpr uint64_t kMultipliers[] = {0x9e3779b1, 0x85ebca77, 0xc2b2ae3d, 0x27d4eb2f};
    return ((remainder + 1) * kMultipliers[table] % (uint64_t{1} << 32)) * buckets >> 32;
  }
  template <typename Visit>  // visit(count, remainder) of a bucket's cells
  void ForEachCell(uint64_t table, uint64_t bucket, Visit visit) const {
    for (uint64_t j = 0; j < cells; ++j) {
      const uint64_t at = ((table * buckets + bucket) * cells + j) * (r + 2);
      visit(Bits(bytes, at, 2), Bits(bytes, at + 2, r));
    }
  }
  bool MightContain(Fingerprint fingerprint) const {
    const auto [first, remainder] = ValueOf(fingerprint);
    bool found = false;
    for (int table = 0; table < 4; ++table) {
      ForEachCell(
          static_cast<uint64_t>(table), (first + Shift(remainder, table)) % buckets,
          [&, wanted = remainder](uint64_t count, uint64_t it) { found |= count > 0 && it == wanted; });
    }
    return found;
  }
  std::map<Value, uint64_t> Counts() const {
    std::map<Value, uint64_t> counts;
    for (int table = 0; table < 4; ++table) {
      for (uint64_t bucket = 0; bucket < buckets; ++bucket) {
        ForEachCell(static_cast<uint64_t>(table), bucket, [&](uint64_t count, uint64_t remainder) {
          if (count == 0) return;
          const Value value{(bucket + buckets - Shift(remainder, table)) % buckets, remainder};
          EXPECT_TRUE(counts.emplace(value, count).second) << "a value stands in two cells";
        });
      }
    }
    return counts;
  }
};

TEST(DLeft, HoldsTheRateAskedForWithoutPaddingItAway) {
  kinds::HoldsTheRate<DLeftFilter, DLeftView>({{1, 0.01, 2000, 0.5},
                                               {10, 0.01, 1000, 0.4},
                                               {100, 0.01, 400, 0.7},
                                               {3000, 0.01, 40, 0.9},
                                               {100, 0.001, 400, 0.7},
                                               {3000, 0.001, 40, 0.9}});
}

TEST(DLeft, IsLaidOutAsSpecified) {
  const auto questions = RandomFingerprints(1000, 5);
  for (const double rate : {0.4, 0.01, 1e-9}) {
    for (const size_t count : {0u, 1u, 3u, 40u, 700u, 3000u}) {
      const auto fingerprints = RandomFingerprints(count, count);
      const std::string payload = Rendered<DLeftFilter>(fingerprints, rate);
      const Reference reference = Reference::Of(payload);
      std::map<Reference::Value, uint64_t> counts;
      for (const Fingerprint fingerprint : fingerprints) {
        uint64_t& of_value = counts[reference.ValueOf(fingerprint)];
        of_value = std::min<uint64_t>(of_value + 1, 3);
      }
      ASSERT_EQ(reference.Counts(), counts) << count << " at " << rate;
      const auto view = DLeftView::Parse(payload);
      ASSERT_TRUE(view.has_value());
      kinds::AnswersAs(*view, questions, [&](Fingerprint f) { return reference.MightContain(f); });
    }
  }
}

TEST(DLeft, RendersTightlyAndAboutAsForetold) {
  for (const double rate : {0.1, 0.01, 0.001}) {
    for (const size_t count : {1u, 5u, 10u, 30u, 100u, 1000u, 3000u, 10'000u}) {
      for (uint64_t seed = 0; seed < 4; ++seed) {
        const std::string payload = Rendered<DLeftFilter>(RandomFingerprints(count, seed), rate);
        const Reference reference = Reference::Of(payload);
        bool full = false;
        for (uint64_t table = 0; table < 4; ++table) {
          for (uint64_t bucket = 0; bucket < reference.buckets; ++bucket) {
            uint32_t taken = 0;
            reference.ForEachCell(table, bucket,
                                  [&](uint64_t cell_count, uint64_t) { taken += cell_count > 0; });
            full |= taken == reference.cells;
          }
        }
        EXPECT_TRUE(full) << "a cell of each bucket is free";
        EXPECT_LE(payload.size(), 4 + 1.12 * static_cast<double>(DLeftFilter::PayloadBytes(count, rate)))
            << count << " at " << rate;
      }
    }
  }
}

TEST(DLeft, TakesAndGivesBackAsAMultisetDoes) {
  for (const size_t size : {3u, 50u, 500u}) {
    for (const double rate : {0.3, 0.01}) {
      std::mt19937_64 random(size);
      const auto universe = RandomFingerprints(3 * size, size);
      MutableDLeft filter(size, rate);
      const Reference geometry = Reference::Of(Serialised(filter));
      std::map<Reference::Value, uint64_t> counts;
      size_t refused = 0;
      size_t stuck = 0;
      for (int step = 0; step < 10'000; ++step) {
        const Fingerprint fingerprint = universe[random() % universe.size()];
        const auto value = geometry.ValueOf(fingerprint);
        const auto at = counts.find(value);
        if (random() % 2 == 0 && (at != counts.end() || counts.size() < size)) {
          ASSERT_TRUE(filter.Insert(fingerprint));
          counts[value] = std::min<uint64_t>(counts[value] + 1, 3);
        } else if (at != counts.end()) {
          ASSERT_TRUE(filter.Remove(fingerprint));
          if (at->second == 3) {
            ++stuck;
          } else if (--at->second == 0) {
            counts.erase(at);
          }
        } else {
          const std::string before = Serialised(filter);
          ASSERT_FALSE(filter.Remove(fingerprint));
          ASSERT_EQ(Serialised(filter), before);
          ++refused;
        }
        ASSERT_EQ(filter.MightContain(fingerprint), counts.contains(value));
        if (step % 50 == 0) {
          ASSERT_EQ(Reference::Of(Serialised(filter)).Counts(), counts);
        }
      }
      EXPECT_GT(refused, 0u);
      EXPECT_GT(stuck, 0u);
    }
  }
}

TEST(DLeft, RefusesAnItemThatDoesNotFit) {
  const auto fingerprints = RandomFingerprints(5000, 3);
  MutableDLeft filter(20, 0.01);
  bool full = false;
  for (const Fingerprint fingerprint : fingerprints) {
    const std::string before = Serialised(filter);
    if (filter.Insert(fingerprint)) continue;
    full = true;
    ASSERT_EQ(Serialised(filter), before);
    ASSERT_FALSE(filter.MightContain(fingerprint));
  }
  EXPECT_TRUE(full);
}

TEST(DLeft, MergesFiltersOfOneGeometry) {
  const auto all = RandomFingerprints(1000, 9);
  MutableDLeft left(1000, 0.01);
  MutableDLeft right(1000, 0.01);
  MutableDLeft both(1000, 0.01);
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t times = 1 + i % 2; times > 0; --times) {
      ASSERT_TRUE(((i + times) % 3 == 0 ? left : right).Insert(all[i]));
      ASSERT_TRUE(both.Insert(all[i]));
    }
  }
  ASSERT_TRUE(left.Merge(right).has_value());
  EXPECT_EQ(Reference::Of(Serialised(left)).Counts(), Reference::Of(Serialised(both)).Counts());
  MutableDLeft crowded(1000, 0.01);
  size_t taken = 0;
  for (const Fingerprint fingerprint : RandomFingerprints(1300, 10))
    taken += crowded.Insert(fingerprint) ? 1U : 0U;
  ASSERT_GT(taken, 1000u);
  for (const MutableDLeft& other : {MutableDLeft(1200, 0.001), crowded}) kinds::RefusesToMerge(left, other);
}

}  // namespace
}  // namespace seen
