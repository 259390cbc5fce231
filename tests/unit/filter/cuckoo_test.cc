#include "filter/cuckoo.h"

#include <map>
#include <set>

#include "filter/snapshot_format.h"
#include "filters/mutable/mutable_cuckoo.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using namespace kinds;

// As schemas/snapshot.md has it.
bool ReferenceAnswer(const std::string& payload, Fingerprint fingerprint) {
  const auto f = static_cast<uint32_t>(payload.at(0));
  const uint64_t buckets = U32(payload, 1);
  const uint64_t h = reference::HashOf(fingerprint);
  const uint64_t entry = (((h & 0xffffffff) * ((uint64_t{1} << f) - 1)) >> 32) + 1;
  const uint64_t first = ((h >> 32) * buckets) >> 32;
  const uint64_t sum = (((entry * 0x9e3779b1u) & 0xffffffff) * buckets) >> 32;
  const uint64_t second = (sum + buckets - first) % buckets;
  for (const uint64_t bucket : {first, second}) {
    for (uint64_t place = 4 * bucket; place < 4 * bucket + 4; ++place) {
      if (Bits(payload, 8 * 5 + place * f, f) == entry) return true;
    }
  }
  return false;
}

TEST(Cuckoo, HoldsAllOfTheSetAndAnswersAsTheFormatHasIt) {
  for (const double rate : {0.3, 0.01, 0.001, 1e-5, 1e-9}) {  // four, two and one entry a load
    for (const size_t count : ManyCounts()) {
      const auto fingerprints = RandomFingerprints(count, count + 1);
      const std::string payload = Rendered<CuckooFilter>(fingerprints, rate);
      const auto view = CuckooView::Parse(payload);
      ASSERT_TRUE(view.has_value()) << view.error().message;
      HoldsAll(*view, fingerprints);
      std::vector<Fingerprint> questions = RandomFingerprints(100, count);
      questions.insert(questions.end(), fingerprints.begin(),
                       fingerprints.begin() + static_cast<ptrdiff_t>(std::min<size_t>(count, 100)));
      for (const Fingerprint question : questions) {
        ASSERT_EQ(view->MightContain(question), ReferenceAnswer(payload, question));
      }
    }
  }
}

TEST(Cuckoo, HoldsTheRateAskedForWithoutPaddingItAway) {
  for (const double rate : {0.1, 0.03, 0.01, 0.001}) {
    for (const size_t count : {10u, 100u, 3000u, 40'000u}) {
      Positives positives;
      const size_t sets = count < 1000 ? 300 : 8;
      for (uint64_t seed = 0; seed < sets; ++seed) {
        const auto fingerprints = RandomFingerprints(count, seed);
        const std::string payload = Rendered<CuckooFilter>(fingerprints, rate);
        positives.Ask(*CuckooView::Parse(payload), fingerprints, 600'000 / sets, seed);
      }
      EXPECT_LE(positives.Rate(), rate + positives.Deviations(rate, 4)) << count << " at " << rate;
      // A bit of an entry halves it.
      if (count >= 100) {
        EXPECT_GE(positives.Rate(), 0.45 * rate) << count << " at " << rate;
      }
    }
  }
}

TEST(Cuckoo, TakesTheFewestBitsOfAllEntries) {
  for (const double rate : {0.5, 0.02, 0.01, 0.001, 1e-6, 1e-9}) {
    for (const size_t count : {0u, 1u, 10u, 1000u, 1'000'000u}) {
      for (const uint32_t more_bits : {0u, 12u}) {
        const uint32_t buckets_min = TightCuckooBuckets(count);
        const CuckooShape shape = CuckooShapeFor(count, rate, buckets_min, more_bits);
        EXPECT_GE(shape.buckets, buckets_min);
        EXPECT_LE(CuckooRate(count, shape), rate * (1 + 1e-9));
        const uint64_t bits = shape.Places() * (shape.entry_bits + more_bits);
        for (uint32_t f = 2; f <= 32; ++f) {  // with as many buckets as take fewer bits
          const uint64_t buckets = (bits - 1) / (4 * (f + more_bits));
          if (buckets < buckets_min || buckets == 0) continue;
          EXPECT_GT(CuckooRate(count, {.entry_bits = f, .buckets = static_cast<uint32_t>(buckets)}), rate);
        }
      }
    }
  }
  EXPECT_EQ(CuckooShapeFor(10, 1e-300, 1, 0), CuckooShapeFor(10, kRateMin, 1, 0));
}

TEST(Cuckoo, FillsItsBucketsTightly) {
  struct Case {
    size_t count;
    double load_min;
  };
  for (const Case c : {Case{4, 1}, {12, 0.9}, {100, 0.95}, {1000, 0.965}, {3000, 0.965}, {50'000, 0.975}}) {
    const size_t sets = c.count <= 1000 ? 50 : 3;
    double load = 0;
    for (uint64_t seed = 0; seed < sets; ++seed) {
      const std::string payload = Rendered<CuckooFilter>(RandomFingerprints(c.count, seed), 0.01);
      load += static_cast<double>(c.count) / (4.0 * U32(payload, 1)) / static_cast<double>(sets);
      EXPECT_GE(payload.size(), CuckooFilter::PayloadBytes(c.count, 0.01));
    }
    EXPECT_GE(load, c.load_min) << c.count;
  }
}

TEST(Cuckoo, TakesAsManyAsItIsSizedFor) {
  for (const size_t count : {1u, 10u, 100u, 1000u, 20'000u}) {
    for (uint64_t seed = 0; seed < 40'000 / (count + 100); ++seed) {
      MutableCuckoo filter(count, 0.01);
      for (const Fingerprint fingerprint : RandomFingerprints(count, seed)) {
        ASSERT_TRUE(filter.Insert(fingerprint));
      }
    }
  }
}

TEST(Cuckoo, FollowsAMultisetThroughInsertionsAndRemovals) {
  // Small entries, so that items often look alike: those are interchangeable.
  for (const double rate : {0.4, 0.01, 1e-6}) {
    std::mt19937_64 random(23);
    MutableCuckoo filter(300, rate);
    std::multiset<Fingerprint> set;
    const auto pool = RandomFingerprints(450, 5);
    for (int i = 0; i < 30'000; ++i) {
      const Fingerprint fingerprint = pool[random() % pool.size()];
      if (set.size() < 300 && set.count(fingerprint) < 2 && random() % 2 == 0) {
        if (filter.Insert(fingerprint)) set.insert(fingerprint);
      } else if (const auto at = set.find(fingerprint); at != set.end()) {
        ASSERT_TRUE(filter.Remove(fingerprint));
        set.erase(at);
      } else if (!filter.MightContain(fingerprint)) {
        const std::string before = Serialised(filter);
        ASSERT_FALSE(filter.Remove(fingerprint));
        ASSERT_EQ(Serialised(filter), before);
      }
      if (i % 1000 == 0) {
        const std::string payload = Serialised(filter);
        const auto view = CuckooView::Parse(payload);
        for (const Fingerprint item : set) {
          ASSERT_TRUE(filter.MightContain(item));
          ASSERT_TRUE(view->MightContain(item));
        }
        for (const Fingerprint item : pool) ASSERT_EQ(view->MightContain(item), filter.MightContain(item));
      }
    }
    EXPECT_GT(set.size(), 200u);
    for (const Fingerprint item : set) ASSERT_TRUE(filter.Remove(item));
    EXPECT_EQ(Serialised(filter).substr(5), std::string(Serialised(filter).size() - 5, '\0'));
  }
}

TEST(Cuckoo, RefusesWhenFullWithoutHavingChanged) {
  for (const size_t count : {1u, 30u, 3000u}) {
    MutableCuckoo filter(count, 0.01);
    std::mt19937_64 random(count);
    std::vector<Fingerprint> in;
    size_t refused = 0;
    while (refused < 50) {
      const Fingerprint fingerprint = {static_cast<uint32_t>(random())};
      const std::string before = refused > 0 ? Serialised(filter) : "";
      if (filter.Insert(fingerprint)) {
        in.push_back(fingerprint);
        continue;
      }
      if (refused > 0) {
        ASSERT_EQ(Serialised(filter), before);
      }
      ++refused;
    }
    EXPECT_GE(in.size(), count);
    EXPECT_GE(static_cast<double>(in.size()), 0.9 * 4 * U32(Serialised(filter), 1));
    for (const Fingerprint fingerprint : in) ASSERT_TRUE(filter.MightContain(fingerprint));
  }
}

TEST(Cuckoo, RefusesTheNinthOfAKind) {
  MutableCuckoo filter(1000, 0.01);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(filter.Insert({1}));
  EXPECT_FALSE(filter.Insert({1}));
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(filter.Remove({1}));
  EXPECT_FALSE(filter.Remove({1}));
}

TEST(Cuckoo, MergesAllOrNothing) {
  const auto fingerprints = RandomFingerprints(1000, 3);
  MutableCuckoo one(1000, 0.01);
  MutableCuckoo two(1000, 0.01);
  for (size_t i = 0; i < fingerprints.size(); ++i) {
    ASSERT_TRUE((i % 3 == 0 ? one : two).Insert(fingerprints[i]));
  }
  ASSERT_TRUE(one.Merge(two).has_value());
  for (const Fingerprint fingerprint : fingerprints) ASSERT_TRUE(one.Remove(fingerprint));
  EXPECT_EQ(Serialised(one), Serialised(MutableCuckoo(1000, 0.01)));

  for (const Fingerprint fingerprint : fingerprints) ASSERT_TRUE(one.Insert(fingerprint));
  RefusesToMerge(one, two, "no room");  // 1,667 items
  for (const MutableCuckoo& other : {MutableCuckoo(1000, 0.001), MutableCuckoo(2000, 0.01)})
    RefusesToMerge(one, other);
}

TEST(CuckooDeathTest, RefusesARateOutsideItsRange) {
  EXPECT_DEATH(MutableCuckoo(10, 0.0), "0, 0.5");
  EXPECT_DEATH((void)CuckooFilter::PayloadBytes(10, 0.6), "0, 0.5");
}

}  // namespace
}  // namespace seen
