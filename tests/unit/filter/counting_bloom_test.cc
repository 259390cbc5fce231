#include <gtest/gtest.h>

#include <map>
#include <set>

#include "filter/bloom.h"
#include "filters/mutable/mutable_counting_bloom.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using kinds::Rendered;
using kinds::Serialised;
using reference::RandomFingerprints;

/// Counters as schemas/snapshot.md has them, one a byte.
class Reference {
 public:
  explicit Reference(const std::string& payload) : probes_(payload[0]) {
    for (const char byte : payload.substr(1)) {
      counters_.push_back(static_cast<uint8_t>(byte) & 15);
      counters_.push_back(static_cast<uint8_t>(byte) >> 4);
    }
  }
  std::set<uint64_t> Places(Fingerprint fingerprint) const {
    std::set<uint64_t> places;
    uint64_t g = reference::HashOf(fingerprint);
    for (int i = 0; i < probes_; ++i) {
      places.insert((g >> 32) * counters_.size() >> 32);
      g *= 0xd1342543de82ef95U;
    }
    return places;
  }
  bool MightContain(Fingerprint fingerprint) const {
    const auto places = Places(fingerprint);
    return std::all_of(places.begin(), places.end(), [&](uint64_t place) { return counters_[place] > 0; });
  }
  const std::vector<int>& counters() const { return counters_; }

 private:
  int probes_;
  std::vector<int> counters_;
};

TEST(CountingBloom, HoldsTheRateAskedForWithoutPaddingItAway) {
  kinds::HoldsTheRate<CountingBloomFilter, CountingBloomView>({{1, 0.01, 2000, 0.3},
                                                               {10, 0.01, 1000, 0.8},
                                                               {100, 0.01, 400, 0.95},
                                                               {3000, 0.01, 40, 0.97},
                                                               {10, 0.001, 1000, 0.8},
                                                               {3000, 0.001, 40, 0.97}});
}

TEST(CountingBloom, CountsAsSpecified) {
  for (const double rate : {0.4, 0.01, 1e-7}) {
    for (const size_t count : {1u, 3u, 40u, 700u}) {
      const auto fingerprints = RandomFingerprints(count, count);
      const std::string payload = Rendered<CountingBloomFilter>(fingerprints, rate);
      const Reference reference(payload);
      std::map<uint64_t, int> expected;  // each place once an item, whatever its probes
      for (const Fingerprint fingerprint : fingerprints)
        for (const uint64_t place : reference.Places(fingerprint)) ++expected[place];
      for (size_t place = 0; place < reference.counters().size(); ++place)
        ASSERT_EQ(reference.counters()[place], std::min(expected[place], 15)) << count << " at " << rate;
      const auto view = CountingBloomView::Parse(payload);
      ASSERT_TRUE(view.has_value());
      kinds::AnswersAs(*view, RandomFingerprints(2000, 5),
                       [&](Fingerprint f) { return reference.MightContain(f); });
    }
  }
}

TEST(CountingBloom, TakesAndGivesBackAsASetDoes) {
  for (const size_t size : {3u, 50u, 500u}) {
    std::mt19937_64 random(size);
    const auto universe = RandomFingerprints(3 * size, size);
    MutableCountingBloom filter(size, 0.01);
    std::multiset<Fingerprint> reference;
    size_t refused = 0;
    for (int step = 0; step < 20'000; ++step) {
      const Fingerprint fingerprint = universe[random() % universe.size()];
      if (random() % 2 == 0 && reference.size() < size) {
        filter.Insert(fingerprint);
        reference.insert(fingerprint);
      } else if (const auto at = reference.find(fingerprint); at != reference.end()) {
        ASSERT_TRUE(filter.Remove(fingerprint));
        reference.erase(at);
      } else if (!filter.MightContain(fingerprint)) {
        const std::string before = Serialised(filter);
        ASSERT_FALSE(filter.Remove(fingerprint));
        ASSERT_EQ(Serialised(filter), before);
        ++refused;
      }
      if (step % 100 == 0) {
        for (const Fingerprint in : reference) ASSERT_TRUE(filter.MightContain(in));
      }
    }
    EXPECT_GT(refused, 1000u);
    while (!reference.empty()) {
      ASSERT_TRUE(filter.Remove(*reference.begin()));
      reference.erase(reference.begin());
    }
    // No counter had reached 15, so nothing is left behind.
    EXPECT_EQ(Serialised(filter), Serialised(MutableCountingBloom(size, 0.01)));
  }
}

TEST(CountingBloom, ACounterThatLostCountStays) {
  const auto items = RandomFingerprints(2, 1);
  MutableCountingBloom filter(100, 0.01);
  const std::string empty = Serialised(filter);
  const auto of_item = [](const Reference& state, Fingerprint item) {
    std::vector<int> counters;
    for (const uint64_t place : state.Places(item)) counters.push_back(state.counters()[place]);
    return counters;
  };
  for (int i = 0; i < 14; ++i) filter.Insert(items[0]);
  for (int i = 0; i < 14; ++i) ASSERT_TRUE(filter.Remove(items[0]));
  EXPECT_EQ(Serialised(filter), empty);
  for (int i = 0; i < 40; ++i) filter.Insert(items[0]);
  for (const int counter : of_item(Reference(Serialised(filter)), items[0])) EXPECT_EQ(counter, 15);
  for (int i = 0; i < 40; ++i) ASSERT_TRUE(filter.Remove(items[0]));
  for (const int counter : of_item(Reference(Serialised(filter)), items[0])) EXPECT_EQ(counter, 15);
  EXPECT_TRUE(filter.MightContain(items[0]));
}

TEST(CountingBloom, MergesByAddingCounts) {
  const auto all = RandomFingerprints(1000, 9);
  MutableCountingBloom left(1000, 0.01);
  MutableCountingBloom right(1000, 0.01);
  MutableCountingBloom both(1000, 0.01);
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t times = i == 5 ? 20 : 1 + i % 3; times > 0; --times) {
      ((i + times) % 2 == 0 ? left : right).Insert(all[i]);
      both.Insert(all[i]);
    }
  }
  ASSERT_TRUE(left.Merge(right).has_value());
  EXPECT_EQ(Serialised(left), Serialised(both));
  kinds::RefusesToMerge(left, MutableCountingBloom(1001, 0.001));
}

}  // namespace
}  // namespace seen
