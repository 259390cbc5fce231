#include "similar/store/similar_cache.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>
#include <vector>

#include "similar/store/item_presence.h"
#include "support/effort.h"

namespace seen {
namespace {

// What an item is similar to in one of its versions. Each fingerprint names the item and the version.
std::vector<Fingerprint> SimilarListOf(uint32_t item, uint32_t version, size_t count) {
  std::vector<Fingerprint> similar;
  for (size_t i = 0; i < count; ++i) {
    similar.push_back({item * 1'000'003u + version * 64u + static_cast<uint32_t>(i)});
  }
  return similar;
}

TEST(SimilarCache, GivesWhatWasFilledOfAnyLength) {
  SimilarCache cache(1 << 20);
  SimilarCache::Fingerprints similar;
  for (uint32_t item = 0; item < 34; ++item) {  // 0: similar to nothing
    const Fingerprint key{item * 0x7654321u};
    EXPECT_FALSE(cache.Find(key, similar).has_value());
    const auto expected = SimilarListOf(item, 0, item);
    cache.Fill(key, cache.Begin(key), 7, expected);
    const auto found = cache.Find(key, similar);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->count, item);
    EXPECT_EQ(found->created_s, 7u);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), similar.begin()));
    cache.Invalidate(key);
    EXPECT_FALSE(cache.Find(key, similar).has_value());
  }
}

TEST(SimilarCache, DropsAFillThatAChangeHasOvertaken) {
  SimilarCache cache(1 << 20);
  SimilarCache::Fingerprints similar;
  for (const size_t count : {1u, 33u}) {
    const Fingerprint key{7};
    const auto ticket = cache.Begin(key);
    cache.Invalidate(key);  // written between reading and filling
    cache.Fill(key, ticket, 7, SimilarListOf(7, 0, count));
    EXPECT_FALSE(cache.Find(key, similar).has_value()) << count;
    cache.Fill(key, cache.Begin(key), 7, SimilarListOf(7, 1, count));
    EXPECT_TRUE(cache.Find(key, similar).has_value()) << count;
    cache.Clear();
    EXPECT_FALSE(cache.Find(key, similar).has_value()) << count;
  }
}

TEST(SimilarCache, IsBoundedAndKeepsTheLatest) {
  SimilarCache cache(64 * 1024);
  EXPECT_LE(cache.bytes(), 64u * 1024);
  SimilarCache::Fingerprints similar;
  for (uint32_t item = 0; item < 10'000; ++item) {
    const Fingerprint key{item * 0x9e3779b1u};
    cache.Fill(key, cache.Begin(key), 7, SimilarListOf(item, 0, 5));
    ASSERT_TRUE(cache.Find(key, similar).has_value());
    EXPECT_EQ(cache.Find(key, similar)->count, 5u);
  }
}

// One thread changes items, others read and fill. A reader that knows of a change before it asks gets nothing
// older than that change, and never parts of two versions.
TEST(SimilarCache, ReadersNeverMeetHalvesNorWhatWasReplacedBeforeTheyAsked) {
  constexpr uint32_t kItems = 64;
  SimilarCache cache(4096);
  std::array<std::atomic<uint32_t>, kItems> disk{};  // the version that a read would find
  std::atomic<bool> stop{false};
  std::atomic<uint64_t> hits{0};
  const auto read = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    SimilarCache::Fingerprints similar;
    while (!stop.load()) {
      const auto item = static_cast<uint32_t>(random() % kItems);
      const Fingerprint key{item * 0x4000'0001u};
      const uint32_t known = disk[item].load();
      const size_t count = item % 2 == 0 ? 5 : 20;
      if (const auto found = cache.Find(key, similar)) {
        hits.fetch_add(1, std::memory_order_relaxed);
        ASSERT_EQ(found->count, count);
        const uint32_t version = (similar[0].value - item * 1'000'003u) / 64;
        // The change is on disk a moment before the cache is invalidated.
        ASSERT_GE(version + 1, known);
        const auto expected = SimilarListOf(item, version, count);
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), similar.begin()));
        continue;
      }
      const auto ticket = cache.Begin(key);
      cache.Fill(key, ticket, 7, SimilarListOf(item, disk[item].load(), count));
    }
  };
  std::vector<std::thread> readers;
  for (uint64_t i = 0; i < 2; ++i) readers.emplace_back(read, i);
  std::mt19937_64 random(9);
  for (int i = 0; i < test::Rounds(20'000); ++i) {
    const auto item = static_cast<uint32_t>(random() % kItems);
    disk[item].fetch_add(1);
    cache.Invalidate({item * 0x4000'0001u});
    if (i % 64 == 0) std::this_thread::yield();
  }
  stop = true;
  for (std::thread& reader : readers) reader.join();
  SimilarCache::Fingerprints similar;
  for (uint32_t item = 0; item < kItems; ++item) {
    const auto found = cache.Find({item * 0x4000'0001u}, similar);
    if (!found) continue;
    EXPECT_EQ((similar[0].value - item * 1'000'003u) / 64, disk[item].load());
  }
}

TEST(PresenceBits, DeniesNothingThatWasAddedAndFewOthersAtItsSize) {
  PresenceBits bits(40'000);
  std::mt19937_64 random(5);
  std::vector<uint64_t> added;
  for (size_t i = 0; i < bits.keys_max(); ++i) {
    added.push_back(random());
    bits.Add(added.back());
  }
  for (const uint64_t key : added) ASSERT_TRUE(bits.Test(key));
  int passed = 0;
  for (int i = 0; i < 100'000; ++i) passed += bits.Test(random()) ? 1 : 0;
  EXPECT_LT(passed, 300);
  bits.Clear();
  EXPECT_FALSE(bits.Test(added[0]));
}

TEST(ItemPresence, GrowsAndDeniesNothingThatWasAdded) {
  ItemPresence presence(0, 1 << 30);
  EXPECT_FALSE(presence.Test(ItemPresence::HashOf("0")));
  constexpr int kKeys = 300'000;
  for (int i = 0; i < kKeys; ++i) presence.Add(ItemPresence::HashOf(std::to_string(i)));
  for (int i = 0; i < kKeys; ++i) ASSERT_TRUE(presence.Test(ItemPresence::HashOf(std::to_string(i))));
  int passed = 0;
  for (int i = 0; i < 100'000; ++i)
    passed += presence.Test(ItemPresence::HashOf(std::to_string(kKeys + i))) ? 1 : 0;
  EXPECT_LT(passed, 600);
  EXPECT_LE(presence.bytes(), kKeys * 20u);
}

TEST(ItemPresence, DeniesNothingOnceItHasNoRoom) {
  ItemPresence presence(0, 256 << 10);
  for (int i = 0; i < 1'000'000; ++i) presence.Add(ItemPresence::HashOf(std::to_string(i)));
  EXPECT_TRUE(presence.full());
  EXPECT_LE(presence.bytes(), 256u << 10);
  EXPECT_GT(presence.keys(), 90'000u) << "the room there is is used";
  EXPECT_TRUE(presence.Test(ItemPresence::HashOf("never added")));
}

}  // namespace
}  // namespace seen
