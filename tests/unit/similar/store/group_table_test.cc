#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <thread>

#include "model/day.h"
#include "model/hashes.h"
#include "similar/port/item_group.h"
#include "similar/store/rocks_group_table.h"
#include "support/effort.h"
#include "support/fakes.h"
#include "unit/store/store_fixture.h"

namespace seen::test {
namespace {

constexpr int64_t kNow = 1'763'700'000'000;
constexpr int64_t kYear2100 = 4'102'444'800'000;

ItemGroup Group(std::string item, std::string group, std::vector<std::string> near, int64_t created = kNow) {
  ItemGroup made;
  made.item_id = std::move(item);
  made.group_id = std::move(group);
  made.created_at = {created};
  made.found = made.item_id == made.group_id ? FoundBy::kFirst : FoundBy::kBoth;
  for (std::string& id : near) made.near.push_back({std::move(id), 0.9, 3, FoundBy::kBoth});
  return made;
}

class GroupTable : public ::testing::Test {
 protected:
  GroupTable()
      : options{.path = folder.path() + "/groups",
                .window_days = 8,
                .memory_bytes = 1 << 20,
                .resources = StoreResources(1 << 20, 1),
                .clock = &clock,
                .future_skew_max = std::chrono::seconds(300),
                .file_system = nullptr} {
    Open();
  }
  void Open() {
    table.reset();
    dropped.clear();
    auto opened = RocksGroupTable::Open(options, &dropped);
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    table = std::move(*opened);
    ASSERT_EQ(*table->Identify(cluster, topic, partitions), expect_foreign);
  }
  void Put(const ItemGroup& group, int64_t timestamp = kNow) {
    std::string json;
    WriteItemGroup(group, json);
    const GroupRecord record{group.item_id, &group, json, {timestamp}};
    Apply({&record, 1});
  }
  void Remove(std::string_view item, int64_t timestamp = kNow) {
    const GroupRecord record{item, nullptr, {}, {timestamp}};
    Apply({&record, 1});
  }
  void Apply(std::span<const GroupRecord> records, int32_t partition = 0) {
    next += static_cast<int64_t>(records.size());
    const Status applied = table->Apply(partition, {next, next - 1, {kNow}, 7}, records);
    ASSERT_TRUE(applied.has_value()) << applied.error().message;
  }
  std::vector<uint32_t> Similar(std::string_view item) {
    std::vector<Fingerprint> out;
    table->AppendSimilar(FingerprintOf(item), out);
    std::vector<uint32_t> values;
    for (const Fingerprint fp : out) values.push_back(fp.value);
    return values;
  }
  std::vector<std::string> Members(std::string_view group, std::string_view after = "", size_t limit = 100) {
    const auto members = table->Members(group, after, limit);
    EXPECT_TRUE(members.has_value());
    return *members;
  }
  static uint32_t Near(std::string_view item) { return NearFingerprintOf(FingerprintOf(item)).value; }
  static uint32_t OfGroup(std::string_view group) { return GroupFingerprintOf(FingerprintOf(group)).value; }

  TemporaryFolder folder;
  sim::VirtualClock clock;  // at kNow
  GroupTableOptions options;
  std::string cluster = "c1", topic = "item-groups";
  int32_t partitions = 2;
  bool expect_foreign = false;
  std::string dropped;
  std::unique_ptr<RocksGroupTable> table;
  int64_t next = 0;
};

using Values = std::vector<uint32_t>;
using Ids = std::vector<std::string>;

TEST_F(GroupTable, KnowsWhatAnItemIsLikeUntilItsRecordChanges) {
  EXPECT_EQ(Similar("a"), Values{});
  Put(Group("a", "a", {}));
  EXPECT_EQ(Similar("a"), Values{}) << "alone";
  Put(Group("b", "a", {"a"}));
  Put(Group("a", "a", {"b"}));
  EXPECT_EQ(Similar("a"), (Values{Near("b"), OfGroup("a")}));
  EXPECT_EQ(Similar("b"), (Values{Near("a"), OfGroup("a")}));
  EXPECT_EQ(Similar("b"), (Values{Near("a"), OfGroup("a")})) << "from the cache";
  std::vector<Fingerprint> like{{5}};
  EXPECT_TRUE(table->AppendGroupAndNear(FingerprintOf("b"), like));
  EXPECT_EQ(like, (std::vector<Fingerprint>{{5}, FingerprintOf("a"), FingerprintOf("a")}));
  EXPECT_FALSE(table->AppendGroupAndNear(FingerprintOf("c"), like));
  Put(Group("b", "a", {"a", "c"}));
  EXPECT_EQ(Similar("b"), (Values{Near("a"), Near("c"), OfGroup("a")}));
  const auto found = table->Find("b");
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(**found, Group("b", "a", {"a", "c"}));
  Remove("b");
  EXPECT_EQ(Similar("b"), Values{});
  EXPECT_FALSE(table->Find("b")->has_value());
  Put(Group("a", "a", {}));
  EXPECT_EQ(Similar("a"), Values{}) << "alone again";
}

TEST_F(GroupTable, ListsAGroupInTheOrderOfIds) {
  for (const char* const id : {"m", "c", "z", "a"}) Put(Group(id, "m", {}));
  Put(Group("other", "other", {}));
  Put(Group("mm", "mm", {}));
  EXPECT_EQ(Members("m"), (Ids{"a", "c", "m", "z"}));
  EXPECT_EQ(Members("m", "a", 2), (Ids{"c", "m"}));
  EXPECT_EQ(Members("m", "m"), (Ids{"z"}));
  EXPECT_EQ(Members("m", "", 0), Ids{});
  EXPECT_EQ(Members("other"), (Ids{"other"}));
  EXPECT_EQ(Members("nobody"), Ids{});
  Put(Group("c", "c", {}));
  Remove("z");
  EXPECT_EQ(Members("m"), (Ids{"a", "m"}));
  Remove("m");
  EXPECT_EQ(Members("m"), (Ids{"a"}));
}

TEST_F(GroupTable, OneBatchMayNameAnItemSeveralTimes) {
  const ItemGroup first = Group("x", "g", {"g"}), second = Group("x", "h", {"h"});
  const GroupRecord records[] = {
      {"x", &first, {}, {kNow}}, {"x", nullptr, {}, {kNow}}, {"x", &second, {}, {kNow}}};
  Apply(records);
  EXPECT_EQ(Similar("x"), (Values{Near("h"), OfGroup("h")}));
  EXPECT_EQ(Members("g"), Ids{});
  EXPECT_EQ(Members("h"), (Ids{"x"}));
}

TEST_F(GroupTable, RowsAndPositionsComeBackTogether) {
  Put(Group("b", "a", {"a"}));
  const auto position = table->PositionOf(0);
  ASSERT_TRUE(*position);
  EXPECT_EQ((*position)->next_offset, 1);
  EXPECT_EQ((*position)->anchor_hash, 7u);
  EXPECT_FALSE(*table->PositionOf(1));
  Open();
  EXPECT_EQ(dropped, "");
  EXPECT_EQ((*table->PositionOf(0))->next_offset, 1);
  EXPECT_EQ(Similar("b"), (Values{Near("a"), OfGroup("a")})) << "presence is built again";
  EXPECT_EQ(Members("a"), (Ids{"b"}));
}

TEST_F(GroupTable, IsDroppedWhereItIsOfSomethingElse) {
  const auto change = [&](int what) {
    if (what == 0) cluster = "c2";
    if (what == 1) topic = "other";
    if (what == 2) partitions = 3;
  };
  for (int what = 0; what < 3; ++what) {
    Put(Group("b", "a", {"a"}));
    change(what);
    expect_foreign = true;
    Open();
    expect_foreign = false;
    EXPECT_FALSE(*table->PositionOf(0)) << what;
    EXPECT_EQ(Similar("b"), Values{}) << what;
    Open();
    EXPECT_EQ(dropped, "") << what;
  }
}

TEST_F(GroupTable, ForgetsEverythingWhereTheTopicWasMadeAnew) {
  Put(Group("b", "a", {"a"}));
  EXPECT_EQ(Similar("b").size(), 2u);
  ASSERT_TRUE(table->Reset().has_value());
  EXPECT_EQ(Similar("b"), Values{});
  EXPECT_FALSE(table->Find("b")->has_value());
  EXPECT_FALSE(*table->PositionOf(0));
  Put(Group("b", "c", {"c"}));
  EXPECT_EQ(Similar("b"), (Values{Near("c"), OfGroup("c")}));
  Open();
  EXPECT_EQ(dropped, "");
  EXPECT_EQ(Similar("b"), (Values{Near("c"), OfGroup("c")}));
}

TEST_F(GroupTable, ItemsLeaveWithTheWindow) {
  Put(Group("old", "g", {"g"}, kNow - 11 * kMsPerDay));  // 8 days, plus a quarter of them, plus one
  Put(Group("older", "g", {"g"}, kNow - 11 * kMsPerDay - 1));
  Put(Group("newest", "newest", {}, kNow));
  EXPECT_EQ(Members("g"), (Ids{"old"}));
  EXPECT_TRUE(table->Find("old")->has_value());
  EXPECT_FALSE(table->Find("older")->has_value());
  EXPECT_EQ(Similar("older"), Values{});
  EXPECT_EQ(Similar("old").size(), 2u);
}

// The record's own timestamp changes nothing.
TEST_F(GroupTable, AnItemAheadOfTheClockMovesNoWindowAndLeavesLikeANewOne) {
  for (const int64_t timestamp : {kNow, kYear2100}) {
    ASSERT_TRUE(table->Reset());
    Put(Group("old", "g", {"g"}, kNow - 10 * kMsPerDay));
    Put(Group("newest", "newest", {"old"}, kNow));
    const uint64_t counted = table->Figures().too_far_ahead_total;
    Put(Group("future", "g", {"g"}, kYear2100), timestamp);
    EXPECT_EQ(table->Figures().too_far_ahead_total, counted + 1);
    Remove("nobody", kYear2100);
    EXPECT_TRUE(table->Find("old")->has_value());
    EXPECT_EQ(Similar("old").size(), 2u) << "from the cache";
    EXPECT_EQ(Members("g"), (Ids{"future", "old"}));
    EXPECT_EQ((*table->Find("future"))->created_at.value, kYear2100) << "as it is in the topic";
    EXPECT_EQ((*table->PositionOf(0))->newest.value, kNow);
    clock.Advance(12 * kMsPerDay);
    Put(Group("later", "later", {}, kNow + 12 * kMsPerDay));
    EXPECT_FALSE(table->Find("future")->has_value());
    EXPECT_EQ(Similar("future"), Values{});
    EXPECT_EQ(Members("g"), Ids{});
    clock.SetWall(kNow);
  }
}

TEST_F(GroupTable, ASlowClockTakesNothingEither) {
  Put(Group("a", "g", {"g"}));
  clock.SetWall(0);
  Put(Group("b", "g", {"g"}, kNow + 1));
  EXPECT_EQ(Members("g"), (Ids{"a", "b"}));
  EXPECT_EQ(Similar("b").size(), 2u);
}

struct StoredTimeCase {
  const char* what;
  int64_t behind_ms;  // how far behind the clock is when the table is opened again
  bool dropped;
};

TEST_F(GroupTable, IsReadAgainFromItsTopicWhereItsStoredTimeIsAheadOfTheClock) {
  for (const auto& c : {StoredTimeCase{"within a day", kMsPerDay, false},
                        StoredTimeCase{"more than a day", kMsPerDay + 1, true}}) {
    Put(Group("a", "g", {"g"}));
    clock.SetWall(kNow - c.behind_ms);
    expect_foreign = false;
    table.reset();
    auto opened = RocksGroupTable::Open(options, &dropped);
    ASSERT_TRUE(opened) << c.what;
    EXPECT_EQ(!dropped.empty(), c.dropped) << c.what;
    EXPECT_EQ((*opened)->Find("a")->has_value(), !c.dropped) << c.what;
    EXPECT_EQ((*opened)->PositionOf(0)->has_value(), !c.dropped) << c.what;
    clock.SetWall(kNow);
    table = std::move(*opened);
  }
}

TEST_F(GroupTable, EqualsAMapWhateverComesAndThroughRestarts) {
  std::mt19937_64 random(11);
  std::map<std::string, ItemGroup> model;
  for (int round = 0; round < test::Rounds(1'500); ++round) {
    const std::string id = "i" + std::to_string(random() % 40);
    if (random() % 5 == 0) {
      model.erase(id);
      Remove(id);
    } else {
      std::vector<std::string> near;
      const size_t count = random() % 3 == 0 ? 0 : random() % 33;
      for (size_t i = 0; i < count; ++i) near.push_back("i" + std::to_string(random() % 40));
      const std::string group = random() % 2 == 0 ? id : "i" + std::to_string(random() % 40);
      const ItemGroup made = Group(id, group, near);
      model[id] = made;
      Put(made);
    }
    if (random() % 300 == 0) Open();
    const std::string asked = "i" + std::to_string(random() % 40);
    Values expected;
    if (const auto known = model.find(asked); known != model.end() && !known->second.IsAlone()) {
      for (const NearItem& near : known->second.near) expected.push_back(Near(near.item_id));
      expected.push_back(OfGroup(known->second.group_id));
    }
    ASSERT_EQ(Similar(asked), expected) << "round " << round;
    Ids members;
    for (const auto& [item, group] : model) {
      if (group.group_id == asked) members.push_back(item);
    }
    ASSERT_EQ(Members(asked), members) << "round " << round;
    const auto found = table->Find(asked);
    ASSERT_EQ(found->has_value(), model.contains(asked)) << "round " << round;
  }
}

TEST_F(GroupTable, NothingIsReadFromDiskThatItHasTakenOrFoundThereAtTheStart) {
  const auto all_have_lists = [&] {
    for (int i = 0; i < 200; ++i) {
      std::vector<Fingerprint> like;
      EXPECT_TRUE(table->AppendGroupAndNear(FingerprintOf("i" + std::to_string(i)), like)) << i;
      EXPECT_EQ(like.size(), 2u);
    }
  };
  for (int i = 0; i < 200; ++i) Put(Group("i" + std::to_string(i), "i0", {"near" + std::to_string(i)}));
  all_have_lists();
  EXPECT_EQ(table->Figures().disk_reads_total, 0u);
  Open();
  all_have_lists();
  EXPECT_EQ(table->Figures().disk_reads_total, 0u);
}

TEST_F(GroupTable, IsReadWhileItIsWritten) {
  std::atomic<bool> stop{false};
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) {
    readers.emplace_back([&] {
      std::vector<Fingerprint> out;
      for (uint32_t k = 0; !stop.load(); ++k) {
        out.clear();
        table->Prefetch(FingerprintOf("i" + std::to_string(k % 8)));
        table->AppendGroupAndNear(FingerprintOf("i" + std::to_string(k % 8)), out);
        // All fingerprints of one version of an item name that version.
        for (const Fingerprint fp : out) ASSERT_EQ(fp, out[0]);
      }
    });
  }
  for (int version = 0; version < test::Rounds(300); ++version) {
    const std::string like = "v" + std::to_string(version);
    Put(Group("i" + std::to_string(version % 8), like, Ids(static_cast<size_t>(version % 33), like)));
  }
  ASSERT_TRUE(table->Reset().has_value());
  stop = true;
  for (std::thread& reader : readers) reader.join();
}

}  // namespace
}  // namespace seen::test
