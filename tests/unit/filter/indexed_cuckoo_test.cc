#include "filter/indexed_cuckoo.h"

#include <deque>

#include "filters/mutable/mutable_indexed_cuckoo.h"
#include "unit/filter/every_kind.h"

namespace seen {
namespace {

using namespace kinds;

std::string Rendered(const Days& days, double rate) {
  std::string payload;
  IndexedCuckooFilter::Render(days.days, rate, payload);
  EXPECT_GE(payload.size(), IndexedCuckooFilter::PayloadBytes(days.days, rate));
  return payload;
}

bool Before(const IndexedItem& a, const IndexedItem& b) { return a.number < b.number; }

std::vector<IndexedItem> InOrder(const IndexedItems& items) {
  std::vector<IndexedItem> sorted(items.begin(), items.end());
  std::sort(sorted.begin(), sorted.end(), Before);
  return sorted;
}

// As schemas/snapshot.md has it.
std::vector<IndexedItem> ReferenceFind(const std::string& payload, Fingerprint fingerprint) {
  const auto f = static_cast<uint32_t>(payload.at(0));
  const auto n = static_cast<uint32_t>(payload.at(1));
  const uint64_t buckets = U32(payload, 2);
  const uint32_t next = U32(payload, 6);
  const uint32_t capacity = U32(payload, 10);
  const auto days = static_cast<size_t>(Bits(payload, 8 * 14, 16));
  const uint64_t h = reference::HashOf(fingerprint);
  const uint64_t entry = (((h & 0xffffffff) * ((uint64_t{1} << f) - 1)) >> 32) + 1;
  const uint64_t first = ((h >> 32) * buckets) >> 32;
  const uint64_t sum = (((entry * 0x9e3779b1u) & 0xffffffff) * buckets) >> 32;
  const uint64_t second = (sum + buckets - first) % buckets;
  std::vector<IndexedItem> found;
  for (const uint64_t bucket : {first, second}) {
    for (uint64_t place = 4 * bucket; place < 4 * bucket + 4; ++place) {
      const uint64_t at = 8 * (16 + 8 * days) + place * (f + n);
      if (Bits(payload, at, f) != entry) continue;
      const auto age =
          static_cast<uint32_t>((uint64_t{next} - 1 - Bits(payload, at + f, n)) & ((uint64_t{1} << n) - 1));
      if (age >= capacity) continue;
      IndexedItem item;
      item.number = next - 1 - age;
      for (size_t i = 0; i < days; ++i) {
        const uint32_t first_number = U32(payload, 16 + 8 * i + 4);
        if (next - 1 - first_number < age) continue;
        item.has_day = true;
        item.day = {static_cast<int32_t>(U32(payload, 16 + 8 * i))};
        item.rank = item.number - first_number;
      }
      found.push_back(item);
    }
    if (first == second) break;
  }
  std::sort(found.begin(), found.end(), Before);
  return found;
}

TEST(IndexedCuckoo, HoldsAllOfItsDaysAndAnswersAsTheFormatHasIt) {
  std::vector<std::vector<size_t>> cases = {
      {}, {0, 3, 0}, {5, 0, 1}, {100, 1, 2000}, std::vector<size_t>(30, 50)};
  for (const size_t count : ManyCounts()) cases.push_back({count});
  for (const double rate : {0.3, 0.01, 1e-5, 1e-9}) {
    for (const auto& counts : cases) {
      const Days days(counts);
      const std::string payload = Rendered(days, rate);
      const auto view = IndexedCuckooView::Parse(payload);
      ASSERT_TRUE(view.has_value()) << view.error().message;
      EXPECT_EQ(view->capacity(), days.all.size());
      HoldsAll(*view, days.all);
      auto questions = RandomFingerprints(100, 3);
      questions.insert(questions.end(), days.all.begin(),
                       days.all.begin() + static_cast<ptrdiff_t>(std::min<size_t>(100, days.all.size())));
      for (const Fingerprint question : questions) {
        const auto expected = ReferenceFind(payload, question);
        ASSERT_EQ(InOrder(view->Find(question)), expected);
        ASSERT_EQ(view->MightContain(question), !expected.empty());
      }
    }
  }
}

TEST(IndexedCuckoo, LeadsFromAnItemToItsNumberDayAndRank) {
  const Days days({700, 0, 3, 1500});
  const std::string payload = Rendered(days, 0.001);
  EXPECT_EQ(payload[1], 12);  // bits of a number below 2,203
  const auto view = IndexedCuckooView::Parse(payload);
  uint32_t number = 0;
  for (size_t i = days.days.size(); i-- > 0;) {
    const DayOfItems& day = days.days[i];
    for (uint32_t rank = 0; rank < day.fingerprints.size(); ++rank) {
      const auto found = InOrder(view->Find(day.fingerprints[rank]));
      const IndexedItem expected = {number++, true, day.day, rank};
      ASSERT_NE(std::find(found.begin(), found.end(), expected), found.end());
    }
  }
}

TEST(IndexedCuckoo, HoldsTheRateAskedForWithoutPaddingItAway) {
  for (const double rate : {0.03, 0.001}) {
    for (const size_t count : {100u, 3000u}) {
      Positives positives;
      const size_t sets = count < 1000 ? 100 : 8;
      for (uint64_t seed = 0; seed < sets; ++seed) {
        const Days days({count / 2, count - count / 2}, seed);
        const std::string payload = Rendered(days, rate);
        positives.Ask(*IndexedCuckooView::Parse(payload), days.all, 600'000 / sets, seed);
      }
      EXPECT_LE(positives.Rate(), rate + positives.Deviations(rate, 4)) << count << " at " << rate;
      EXPECT_GE(positives.Rate(), 0.45 * rate) << count << " at " << rate;
    }
  }
}

// What is in after each insertion, for capacities around powers of two, from any first number on.
TEST(IndexedCuckoo, EvictsExactlyTheOldestWithEachInsertion) {
  for (const size_t capacity : {1u, 2u, 3u, 7u, 8u, 9u, 100u, 128u}) {
    MutableIndexedCuckoo filter(capacity, 1e-7);
    std::deque<std::pair<Fingerprint, IndexedItem>> in;
    const auto stream = RandomFingerprints(100 * capacity + 500, capacity);
    IndexedItem item = {0, true, {100}, 0};
    for (size_t i = 0; i < stream.size(); ++i) {
      const Fingerprint fingerprint = stream[(i * 7919) % stream.size()];
      if (i > 0 && i % (capacity / 3 + 1) == 0) {  // several days in a window
        item.day = item.day + 1;
        item.rank = 0;
      }
      ASSERT_TRUE(filter.Insert(fingerprint, item.day));
      in.push_back({fingerprint, item});
      ++item.number;
      ++item.rank;
      if (in.size() > capacity) {
        ASSERT_FALSE(filter.MightContain(in.front().first)) << "long gone";
        in.pop_front();
      }
      if (i % 97 != 0 && i + 5 < stream.size()) continue;
      const std::string payload = Serialised(filter);
      const auto view = IndexedCuckooView::Parse(payload);
      ASSERT_TRUE(view.has_value()) << view.error().message;
      for (const auto& [known, expected] : in) {
        ASSERT_EQ(InOrder(filter.Find(known)), std::vector<IndexedItem>{expected});
        ASSERT_EQ(InOrder(view->Find(known)), std::vector<IndexedItem>{expected});
      }
      // Everything else has gone and stays so, however often the numbers have come round.
      size_t others = 0;
      for (const Fingerprint question : stream) others += filter.MightContain(question) ? 1u : 0u;
      ASSERT_EQ(others, in.size());
    }
  }
}

TEST(IndexedCuckoo, RefusesTheNinthOfAKindUntilTheFirstHasGone) {
  MutableIndexedCuckoo filter(20, 0.001);
  for (int i = 0; i < 8; ++i) ASSERT_TRUE(filter.Insert({1}, {5}));
  const std::string before = Serialised(filter);
  ASSERT_FALSE(filter.Insert({1}, {6}));
  EXPECT_EQ(Serialised(filter), before);
  EXPECT_EQ(filter.Find({1}).size(), 8u);
  for (uint32_t i = 0; i < 13; ++i) ASSERT_TRUE(filter.Insert({100 + i}, {6}));
  EXPECT_EQ(filter.Find({1}).size(), 7u);
  EXPECT_TRUE(filter.Insert({1}, {6}));
}

TEST(IndexedCuckoo, CountsALateDayAsTheNewest) {
  MutableIndexedCuckoo filter(20, 1e-6);
  ASSERT_TRUE(filter.Insert({1}, {5}));
  ASSERT_TRUE(filter.Insert({2}, {3}));
  EXPECT_EQ(InOrder(filter.Find({2})), (std::vector<IndexedItem>{{1, true, {5}, 1}}));
}

TEST(IndexedCuckoo, GoesOnTakingWithoutRefusing) {
  MutableIndexedCuckoo filter(1000, 0.01);
  std::mt19937_64 random(9);
  size_t refused = 0;
  for (int32_t i = 0; i < 300'000; ++i) {
    if (!filter.Insert({static_cast<uint32_t>(random())}, {i / 100})) ++refused;
  }
  EXPECT_EQ(refused, 0u);
}

TEST(IndexedCuckoo, ReadsNothingOutsideWhateverTheBytes) {
  std::vector<std::string> payloads;
  for (const double rate : {0.5, 0.01, 1e-5, 1e-9}) {
    for (const auto& counts : {std::vector<size_t>{}, {1}, {5, 0, 60}})
      payloads.push_back(Rendered(Days(counts), rate));
  }
  const auto asks = RandomFingerprints(16, 9);
  Mutate<IndexedCuckooView>(payloads, 20'000, [&](const auto& view) {
    AskSome(view);
    for (const Fingerprint ask : asks) EXPECT_EQ(view.Find(ask).size() > 0, view.MightContain(ask));
  });
}

TEST(IndexedCuckooDeathTest, RefusesDaysThatDontDescend) {
  const Days days({1, 1});
  const std::vector<DayOfItems> turned = {days.days[1], days.days[0]};
  std::string payload;
  EXPECT_DEATH(IndexedCuckooFilter::Render(turned, 0.01, payload), "descend");
}

}  // namespace
}  // namespace seen
