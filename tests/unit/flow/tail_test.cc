#include "flow/tail.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <thread>

namespace seen {
namespace {

Change Exposed(uint32_t fingerprint, uint32_t second = 1'763'700'000) {
  return {{fingerprint}, second, ChangeKind::kExposed};
}

Tail::UserSlot& SlotOf(Tail& tail, const UserKey& key, const std::string& id) {
  return tail.SlotOf(key, id, static_cast<uint32_t>(std::hash<std::string>()(id)));
}

std::vector<uint32_t> Read(const Tail& tail, const UserKey& key, FilterMask filters = 1) {
  std::vector<Change> changes;
  tail.Read(key, filters, changes);
  std::vector<uint32_t> values;
  for (const Change& change : changes) values.push_back(change.fingerprint.value);
  return values;
}

TEST(Tail, GivesAUsersChangesInLogOrder) {
  Tail tail(1 << 20);
  const UserKey key = UserKeyOf("u1");
  Tail::UserSlot& slot = SlotOf(tail, key, "u1");
  for (uint32_t i = 0; i < 5; ++i) tail.Append(slot, Exposed(10 - i), 1);
  EXPECT_EQ(Read(tail, key), (std::vector<uint32_t>{10, 9, 8, 7, 6}));
  EXPECT_EQ(Read(tail, UserKeyOf("u2")), std::vector<uint32_t>{});
  std::vector<Change> changes;
  EXPECT_EQ(tail.Read(key, 1, changes), "u1");
}

TEST(Tail, TellsTwoIdsUnderOneKey) {
  Tail tail(1 << 20);
  const UserKey key{1, 2};
  EXPECT_FALSE(SlotOf(tail, key, "a").has_collision);
  EXPECT_FALSE(SlotOf(tail, key, "a").has_collision);
  EXPECT_TRUE(SlotOf(tail, key, "b").has_collision);
}

TEST(Tail, UsersWhoseKeysCollideInTheIndexStayApart) {
  Tail tail(8 << 20);
  // All users have the same home cell and the same tag. Only the keys in their slots differ.
  for (uint64_t i = 0; i < 500; ++i) {
    const UserKey key{uint64_t{7} << 32 | i, 42};
    tail.Append(SlotOf(tail, key, "u" + std::to_string(i)), Exposed(static_cast<uint32_t>(i)), 1);
  }
  for (uint64_t i = 0; i < 500; ++i) {
    EXPECT_EQ(Read(tail, {uint64_t{7} << 32 | i, 42}), std::vector<uint32_t>{static_cast<uint32_t>(i)});
  }
}

TEST(Tail, IsFullAtItsBytesAndSortsItsUsers) {
  Tail tail(2 << 20);
  std::mt19937_64 random(1);
  uint64_t users = 0;
  while (!tail.Full()) {
    const UserKey key{random(), random()};
    tail.Append(SlotOf(tail, key, "user-" + std::to_string(users)), Exposed(1), 1);
    ++users;
  }
  EXPECT_GE(tail.bytes(), 2u << 20);
  EXPECT_LT(tail.bytes(), 3u << 20);
  EXPECT_GT(users, 10'000u);
  const auto sorted = tail.SortedUsers();
  ASSERT_EQ(sorted.size(), users);
  for (size_t i = 1; i < sorted.size(); ++i) ASSERT_LT(sorted[i - 1]->key, sorted[i]->key);
}

TEST(Tail, ReadersSeeEverythingAppendedBeforeTheyBeganWhileItGrows) {
  // After each Append the writer notes how many changes the user has. A reader that begins later must see at
  // least that many.
  constexpr uint32_t kUsers = 3'000;  // the index grows while it is read
  constexpr uint32_t kRounds = 12;
  Tail tail(32 << 20);
  std::vector<UserKey> keys;
  for (uint32_t u = 0; u < kUsers; ++u) keys.push_back(UserKeyOf("u" + std::to_string(u)));
  std::vector<std::atomic<uint32_t>> appended(kUsers);
  std::atomic<bool> done{false};
  std::vector<std::thread> readers;
  std::atomic<uint64_t> reads{0};
  for (uint64_t r = 0; r < 2; ++r) {
    readers.emplace_back([&, r] {
      std::mt19937_64 random(r);
      do {
        const size_t user = random() % kUsers;
        const uint32_t least = appended[user].load(std::memory_order_acquire);
        const auto seen = Read(tail, keys[user]);
        ASSERT_GE(seen.size(), least);
        for (uint32_t i = 0; i < seen.size(); ++i) ASSERT_EQ(seen[i], i);
        reads.fetch_add(1, std::memory_order_relaxed);
      } while (!done.load());
    });
  }
  for (uint32_t round = 0; round < kRounds; ++round) {
    for (uint32_t u = 0; u < kUsers; ++u) {
      tail.Append(SlotOf(tail, keys[u], "u" + std::to_string(u)), Exposed(round), 1);
      appended[u].store(round + 1, std::memory_order_release);
    }
  }
  done.store(true);
  for (std::thread& reader : readers) reader.join();
  EXPECT_GT(reads.load(), 0u);
}

TEST(Tail, KeepsFiltersApartAndWhatIsSimilarBesideTheExposuresOfThoseThatRecordIt) {
  // Filters 1 and 2 record similar items, or no filter does. Compares the tail with a plain list of the
  // appended changes.
  std::mt19937_64 random(3);
  struct Appended {
    Change change;
    FilterMask filters;
  };
  for (int round = 0; round < 200; ++round) {
    const FilterMask record_similar = round % 4 == 0 ? 0 : 6;
    Tail tail(std::make_shared<TailMemory>(1 << 20), record_similar);
    const UserKey key = UserKeyOf("u1");
    Tail::UserSlot& slot = SlotOf(tail, key, "u1");
    std::vector<Appended> log;
    for (uint32_t i = 0; i < random() % 200; ++i) {
      Change change = Exposed(i, 1000 + i);
      auto filters = static_cast<FilterMask>(1 + random() % 7);
      const auto dice = random() % 10;
      if (dice < 5) change.kind = ChangeKind::kSimilar;
      if (dice == 9) change.kind = ChangeKind::kRemoved;
      if (change.kind == ChangeKind::kSimilar) filters = static_cast<FilterMask>(filters & record_similar);
      if (filters == 0) continue;
      tail.Append(slot, change, filters);
      log.push_back({change, filters});
    }
    for (FilterMask asked = 1; asked < 8; ++asked) {
      std::vector<Change> read;
      tail.Read(key, asked, read);
      size_t at = 0;
      for (const Appended& one : log) {
        if ((one.filters & asked) == 0) continue;
        ASSERT_LT(at, read.size());
        ASSERT_EQ(read[at].fingerprint, one.change.fingerprint) << "round " << round;
        ASSERT_EQ(read[at].kind, one.change.kind) << "round " << round;
        ASSERT_EQ(read[at++].second, one.change.second);
      }
      ASSERT_EQ(at, read.size());
    }
  }
}

TEST(Tail, TakesNoBlockMoreForWhatIsSimilarBetweenExposures) {
  Tail plain(1 << 20);
  Tail mixed(std::make_shared<TailMemory>(1 << 20), 1);
  const UserKey key = UserKeyOf("u1");
  Tail::UserSlot& slot = SlotOf(plain, key, "u1");
  Tail::UserSlot& other = SlotOf(mixed, key, "u1");
  for (uint32_t i = 0; i < 100; ++i) {
    plain.Append(slot, Exposed(i), 1);
    mixed.Append(other, {{i}, 5, i % 2 == 0 ? ChangeKind::kExposed : ChangeKind::kSimilar}, 1);
  }
  EXPECT_EQ(mixed.bytes(), plain.bytes());
}

}  // namespace
}  // namespace seen
