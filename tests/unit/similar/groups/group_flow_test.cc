// Compares GroupFlow, over plain maps and over RocksDB, with the rules, for random histories.
#include "similar/groups/group_flow.h"

#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include "group_oracle.h"
#include "similar/store/rocks_item_indexes.h"
#include "support/effort.h"
#include "support/map_index.h"

namespace seen::test {
namespace {

std::unique_ptr<GroupFlow> OpenFlow(const GroupOptions& options, ItemIndex& index, GroupSink& sink) {
  auto flow = GroupFlow::Open(options, index, sink);
  EXPECT_TRUE(flow) << flow.error().message;
  return std::move(*flow);
}

Status Take(GroupFlow& flow, const GivenItem& item, int64_t offset) {
  const PreparedItem prepared = Prepared(item, offset);
  return flow.Apply({&prepared, 1});
}

std::string TextOf(const ItemGroup& group) {
  std::string text = group.item_id + " of " + group.group_id + " by " + std::string(FoundByName(group.found));
  if (!group.moved_from.empty()) text += " from " + group.moved_from;
  for (const NearItem& near : group.near) {
    text += " | " + near.item_id + " " + std::string(FoundByName(near.found)) + " " +
            std::to_string(near.similarity.value_or(-1)) + " " + std::to_string(near.distance);
  }
  return text;
}
std::map<std::string, std::string> TextOf(const std::map<std::string, ItemGroup>& topic) {
  std::map<std::string, std::string> all;
  for (const auto& [id, group] : topic) all[id] = TextOf(group);
  return all;
}

// The seeds together give every kind of options.
GroupOptions OptionsOf(uint64_t seed) {
  GroupOptions options;
  options.window_days = seed % 3 == 0 ? 30 : 5;
  options.similarity_min = 0.75;
  options.method = seed % 5 == 1   ? SimilarMethod::kMinHash
                   : seed % 5 == 2 ? SimilarMethod::kSimHash
                                   : SimilarMethod::kBoth;
  options.verify = seed % 4 != 3;
  return options;
}

TEST(GroupFlow, DecidesAsTheRulesSayAfterEachItem) {
  for (uint64_t seed = 0; seed < static_cast<uint64_t>(Rounds(200)); ++seed) {
    const GroupOptions options = OptionsOf(seed);
    MapIndex index;
    MapSink sink;
    const auto flow = OpenFlow(options, index, sink);
    GroupOracle oracle(options);
    const GroupRules rules(options);
    const auto history = RandomItems(seed, {});
    for (size_t i = 0; i < history.size(); ++i) {
      oracle.Take(history[i]);
      ASSERT_TRUE(Take(*flow, history[i], static_cast<int64_t>(i)));
      if (seed % 3 == 1 && i % 7 == 0) {
        ASSERT_TRUE(flow->Checkpoint());
      }
      ASSERT_EQ(TextOf(sink.topic), TextOf(oracle.topic())) << "seed " << seed << " item " << i;
      ASSERT_EQ(sink.topic, oracle.topic()) << "seed " << seed << " item " << i;
      for (const std::string& id : oracle.Live()) {
        const ItemGroup& group = sink.topic.at(id);
        const ItemFeatures* first = oracle.FirstOf(id);
        if (first != nullptr && first->length != LengthClass::kEmpty) {
          EXPECT_TRUE(rules.Compare(oracle.FeaturesOf(id), *first))
              << "seed " << seed << ": " << id << " isn't like the first of " << group.group_id;
        }
        for (const NearItem& near : group.near) {
          if (!oracle.IsStillNear(id, near.item_id)) continue;
          const auto& back = sink.topic.at(near.item_id).near;
          EXPECT_TRUE(
              std::any_of(back.begin(), back.end(), [&](const auto& one) { return one.item_id == id; }))
              << "seed " << seed << " item " << i << ": " << near.item_id << " doesn't know " << id;
        }
      }
      if (HasFailure()) return;
    }
  }
}

class OnDisk : public ::testing::Test {
 protected:
  static constexpr uint64_t kPresenceBytesMax = 5 << 20;  // some indexes have none, and always ask files
  OnDisk() { files_->CreateDirIfMissing("/store", {}, nullptr).PermitUncheckedError(); }
  std::unique_ptr<RocksItemIndex> Open(int32_t partition) {
    auto index = RocksItemIndex::Open({.directory = "/store",
                                       .partition = partition,
                                       .idf = IdfTable::Bundled(),
                                       .idf_text = std::string(IdfTable::BundledText()),
                                       .resources = resources_,
                                       .presence_bytes_max = partition % 3 == 0 ? 0 : kPresenceBytesMax,
                                       .file_system = files_});
    EXPECT_TRUE(index) << index.error().message;
    return index ? std::move(*index) : nullptr;
  }

  // In memory, to save the time that a disk takes to sync. Tests in unit/store and unit/item_store cover a
  // loss of power.
  const std::unique_ptr<rocksdb::Env> memory_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  const std::shared_ptr<rocksdb::FileSystem> files_ = memory_->GetFileSystem();
  const StoreResources resources_{16 << 20, 1};
};

TEST_F(OnDisk, DecidesTheSameAsOverPlainMapsAndGoesOnWhereItWas) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    GroupOptions options = OptionsOf(seed);
    // With small limits, both must cut the same.
    if (seed % 2 == 0) {
      options.list_max = 3;
      options.candidates_max = 2;
    }
    ItemHistoryShape shape;
    shape.length = 150;
    shape.ids = 60;
    const auto history = RandomItems(1000 + seed, shape);
    MapIndex map;
    MapSink expected, actual;
    const auto flow = OpenFlow(options, map, expected);
    auto index = Open(static_cast<int32_t>(seed));
    auto on_disk = OpenFlow(options, *index, actual);
    for (size_t i = 0; i < history.size(); ++i) {
      ASSERT_TRUE(Take(*flow, history[i], static_cast<int64_t>(i)));
      const Status taken = Take(*on_disk, history[i], static_cast<int64_t>(i));
      ASSERT_TRUE(taken) << taken.error().message;
      ASSERT_EQ(TextOf(actual.topic), TextOf(expected.topic)) << "seed " << seed << " item " << i;
      if (i % 40 != 39) continue;
      ASSERT_TRUE(on_disk->Checkpoint());
      on_disk.reset();
      index.reset();
      index = Open(static_cast<int32_t>(seed));
      on_disk = OpenFlow(options, *index, actual);
      ASSERT_EQ(on_disk->next_offset(), static_cast<int64_t>(i + 1));
    }
    const GroupFigures a = flow->Figures();
    const GroupFigures b = on_disk->Figures();
    EXPECT_EQ(a.items > 0, b.items > 0);
  }
}

// A killed process loses what it hasn't checkpointed. The next process decides it again.
TEST_F(OnDisk, ComesToTheSameTopicWhereverItIsKilled) {
  for (uint64_t seed = 0; seed < 12; ++seed) {
    const GroupOptions options = OptionsOf(seed);
    ItemHistoryShape shape;
    shape.length = 80;
    const auto history = RandomItems(2000 + seed, shape);
    MapIndex map;
    MapSink expected, actual;
    const auto flow = OpenFlow(options, map, expected);
    for (size_t i = 0; i < history.size(); ++i) ASSERT_TRUE(Take(*flow, history[i], static_cast<int64_t>(i)));

    std::mt19937_64 random(seed);
    int kills = 0;
    for (bool done = false; !done;) {
      const auto index = Open(100 + static_cast<int32_t>(seed));
      const auto on_disk = OpenFlow(options, *index, actual);
      done = true;
      for (auto i = static_cast<size_t>(on_disk->next_offset()); i < history.size(); ++i) {
        if (kills < 6 && random() % 15 == 0) {
          ++kills;
          done = false;
          break;
        }
        ASSERT_TRUE(Take(*on_disk, history[i], static_cast<int64_t>(i)));
        if (random() % 9 == 0) {
          ASSERT_TRUE(on_disk->Checkpoint());
        }
      }
    }
    ASSERT_EQ(TextOf(actual.topic), TextOf(expected.topic)) << "seed " << seed;
  }
}

TEST(GroupFlow, DecidesNothingAnewOfWhatItHasTaken) {
  for (uint64_t seed = 0; seed < 30; ++seed) {
    MapIndex index;
    MapSink sink;
    auto flow = OpenFlow({}, index, sink);
    const auto history = RandomItems(seed, {});
    for (size_t i = 0; i < history.size(); ++i) ASSERT_TRUE(Take(*flow, history[i], static_cast<int64_t>(i)));
    ASSERT_TRUE(flow->Checkpoint());
    const auto topic = sink.topic;
    const uint64_t sent = sink.sent;
    flow = OpenFlow({}, index, sink);
    for (size_t i = seed; i < history.size(); ++i)
      ASSERT_TRUE(Take(*flow, history[i], static_cast<int64_t>(i)));
    EXPECT_EQ(sink.topic, topic);
    EXPECT_EQ(sink.sent, sent);
  }
}

// The SimHashes are uniform. So in each of four tables, a new item is compared with 1/65,536 of the others.
TEST(GroupFlow, ComparesFourTimesItemsOverBlocks) {
  GroupOptions options;
  options.method = SimilarMethod::kSimHash;
  options.verify = false;
  MapIndex index;
  MapSink sink;
  const auto flow = OpenFlow(options, index, sink);
  constexpr uint64_t kItems = 20'000;
  const TimeMs at{20'000 * kMsPerDay};
  for (uint64_t i = 0; i < kItems; ++i) {
    GivenItem item{"n" + std::to_string(i), at, false, {}};
    item.features.content_hash = Mix(i);
    item.features.simhash = Mix(i * 2 + 0x9e3779b97f4a7c15u);
    item.features.length = LengthClass::kLong;
    item.features.words = 100;
    ASSERT_TRUE(Take(*flow, item, static_cast<int64_t>(i)));
  }
  // Each item is compared with those before it, on average half of all. (With 2^32 others, that would be
  // 4 x 2^32 / 65,536 = 262,144 comparisons.)
  const double expected = 4.0 * (kItems / 2.0) * kItems / 65'536;
  EXPECT_NEAR(static_cast<double>(flow->Figures().compared_total), expected, expected * 0.05);
}

class Spam : public ::testing::TestWithParam<bool> {};

// The work for each item is bounded, whatever is already there: records sent and rows verified don't grow.
TEST_P(Spam, CostsEachItemTheSame) {
  const bool is_identical = GetParam();
  MapIndex index;
  MapSink sink;
  const auto flow = OpenFlow({}, index, sink);
  const GroupOptions options;
  constexpr uint64_t kItems = 3'000;
  std::set<uint32_t> shingles;
  for (uint32_t shingle = 0; shingle < 30; ++shingle) shingles.insert(shingle);
  const ItemFeatures text = FeaturesOf(shingles);
  const TimeMs at{20'000 * kMsPerDay};
  for (uint64_t i = 0; i < kItems; ++i) {
    GivenItem item{"n" + std::to_string(i), at, false, text};
    if (!is_identical) item.features.content_hash = Mix(i);
    const uint64_t sent = sink.sent;
    const uint64_t verified = flow->Figures().candidates_total;
    ASSERT_TRUE(Take(*flow, item, static_cast<int64_t>(i)));
    ASSERT_LE(sink.sent - sent, 1 + kNearItemsMax);
    ASSERT_LE(flow->Figures().candidates_total - verified, options.candidates_max);
  }
  for (const auto& [id, group] : sink.topic) {
    ASSERT_EQ(group.group_id, "n0");
    ASSERT_EQ(group.near.size(), kNearItemsMax);
  }
  const GroupFigures figures = flow->Figures();
  EXPECT_EQ(figures.copies_total, is_identical ? kItems - 1 : 0);
  EXPECT_EQ(figures.compared_total == 0, is_identical) << "of a copy no list is looked at";
  EXPECT_EQ(figures.lists_cut_total == 0, is_identical);
}

INSTANTIATE_TEST_SUITE_P(OfATextAndAlmostOfIt, Spam, ::testing::Bool());

TEST(GroupFlow, WaitsForAFullQueueAndForgetsNothingOfOneThatStaysFull) {
  MapIndex index;
  MapSink sink;
  sink.HoldAtMost(1);
  const auto flow = OpenFlow({}, index, sink);
  std::set<uint32_t> shingles{1, 2, 3, 4, 5};
  const std::vector<GivenItem> items = {{"a", {1}, false, FeaturesOf(shingles)},
                                        {"b", {2}, false, FeaturesOf(shingles)}};
  ASSERT_TRUE(Take(*flow, items[0], 0));
  sink.is_down = true;
  const Status full = Take(*flow, items[1], 1);
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kUnavailable);
  EXPECT_FALSE(flow->Checkpoint());
  EXPECT_FALSE(*index.ReadPosition()) << "nothing is durable whose results haven't arrived";
  sink.is_down = false;
  ASSERT_TRUE(Take(*flow, items[1], 1));
  ASSERT_TRUE(flow->Checkpoint());
  EXPECT_EQ(sink.topic.at("b").group_id, "a");
  EXPECT_EQ(sink.topic.at("a").near.at(0).item_id, "b");
}

}  // namespace
}  // namespace seen::test
