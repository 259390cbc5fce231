// Items whose times are years ahead, from the records to the index on disk: they must harm only themselves.
#include <gtest/gtest.h>
#include <rocksdb/env.h>

#include "group_fixture.h"
#include "similar/groups/item_reading.h"
#include "similar/store/rocks_item_indexes.h"
#include "support/fakes.h"

namespace seen::test {
namespace {

constexpr int64_t kYear2100 = 4'102'444'800'000;
constexpr std::string_view kText = "a text of some words that two items have in common";
constexpr int64_t kWindowDays = 8;

class WrongTimes : public ::testing::Test {
 protected:
  WrongTimes() {
    files_->CreateDirIfMissing("/store", {}, nullptr).PermitUncheckedError();
    ItemReadingOptions options;
    options.record_bytes_max = 1 << 20;
    options.future_skew_max = std::chrono::seconds(300);
    options.clock = &clock_;
    options.features = {IdfTable::Bundled(), 0.8, 1 << 20};
    reading_ = std::make_unique<ItemReading>(options);
    Open();
  }
  void Open() {
    flow_.reset();
    index_.reset();
    auto index = RocksItemIndex::Open({.directory = "/store",
                                       .idf = IdfTable::Bundled(),
                                       .idf_text = std::string(IdfTable::BundledText()),
                                       .resources = resources_,
                                       .presence_bytes_max = 5 << 20,
                                       .file_system = files_});
    ASSERT_TRUE(index) << index.error().message;
    index_ = std::move(*index);
    GroupOptions options;
    options.window_days = kWindowDays;
    options.stored_time_max = StoredTimeMax(clock_.WallNow(), std::chrono::seconds(300));
    auto flow = GroupFlow::Open(options, *index_, sink_);
    ASSERT_TRUE(flow) << flow.error().message;
    flow_ = std::move(*flow);
  }
  /// False: the record was rejected.
  bool Take(const std::string& value, int64_t timestamp) {
    Record record;
    record.offset = offset_++;
    record.timestamp = {timestamp};
    record.value = value;
    std::vector<ReadItem> read;
    reading_->Read({&record, 1}, read);
    if (!read[0].rejection) {
      const PreparedItem item{record.offset,   record.timestamp,
                              read[0].item_id, read[0].created_at,
                              read[0].deleted, read[0].deleted ? nullptr : &read[0].features};
      const Status applied = flow_->Apply({&item, 1});
      EXPECT_TRUE(applied) << applied.error().message;
    }
    flow_->Pass(offset_);
    return !read[0].rejection;
  }
  bool TakeItem(const std::string& id, int64_t timestamp) {
    return Take(R"({"item_id":")" + id + R"(","text":")" + std::string(kText) + "\"}", timestamp);
  }
  // Takes the item as an older version did, which believed the record's time.
  void TakeBelieved(const std::string& id, int64_t created_at) {
    clock_.SetWall(created_at);
    EXPECT_TRUE(TakeItem(id, created_at));
    clock_.SetWall(now_);
  }
  bool Stored(std::string_view id) const {
    const auto group = flow_->Group(id);
    EXPECT_TRUE(group) << group.error().message;
    return group && *group;
  }
  void Checkpoint() {
    const Status saved = flow_->Checkpoint();
    ASSERT_TRUE(saved) << saved.error().message;
  }

  sim::VirtualClock clock_;
  const int64_t now_ = clock_.WallNow().value;
  const std::unique_ptr<rocksdb::Env> memory_{rocksdb::NewMemEnv(rocksdb::Env::Default())};
  const std::shared_ptr<rocksdb::FileSystem> files_ = memory_->GetFileSystem();
  const StoreResources resources_{16 << 20, 1};
  MapSink sink_;
  std::unique_ptr<ItemReading> reading_;
  std::unique_ptr<RocksItemIndex> index_;
  std::unique_ptr<GroupFlow> flow_;
  int64_t offset_ = 0;
};

TEST_F(WrongTimes, ARecordOf2100TakesNothingFromTheIndex) {
  ASSERT_TRUE(TakeItem("a", now_));
  Checkpoint();
  EXPECT_FALSE(TakeItem("future", kYear2100)) << "it goes to the dead letters";
  Checkpoint();
  EXPECT_TRUE(Stored("a"));
  EXPECT_FALSE(Stored("future"));
  ASSERT_TRUE(TakeItem("b", now_ + 1));
  EXPECT_TRUE(Stored("b"));
  EXPECT_EQ(sink_.topic.at("b").group_id, "a");
  Open();
  EXPECT_EQ(flow_->Figures().times_corrected_total, 0u);
  EXPECT_TRUE(Stored("a"));
}

TEST_F(WrongTimes, ADeletionInARecordOf2100TakesOutItsItemAlone) {
  ASSERT_TRUE(TakeItem("a", now_));
  ASSERT_TRUE(TakeItem("b", now_));
  ASSERT_TRUE(Take(R"({"item_id":"a","deleted":true})", kYear2100));
  Checkpoint();
  EXPECT_FALSE(Stored("a"));
  EXPECT_TRUE(Stored("b"));
}

TEST_F(WrongTimes, APoisonedIndexTakesItemsAgainOnceItIsOpened) {
  ASSERT_TRUE(TakeItem("a", now_));
  TakeBelieved("future", kYear2100);
  ASSERT_TRUE(TakeItem("lost", now_));
  Checkpoint();
  EXPECT_FALSE(Stored("a"));
  EXPECT_FALSE(Stored("lost")) << "what comes after it is too old";
  Open();
  EXPECT_EQ(flow_->Figures().times_corrected_total, 1u);
  EXPECT_FALSE(Stored("future")) << "an item ahead of index time doesn't count";
  ASSERT_TRUE(TakeItem("b", now_ + 1));
  ASSERT_TRUE(TakeItem("c", now_ + 2));
  EXPECT_TRUE(Stored("b"));
  EXPECT_EQ(sink_.topic.at("b").group_id, "b") << "not of the item of 2100";
  EXPECT_EQ(sink_.topic.at("c").group_id, "b");
  for (const NearItem& near : sink_.topic.at("c").near) EXPECT_NE(near.item_id, "future");
  Checkpoint();
  Open();
  EXPECT_EQ(flow_->Figures().times_corrected_total, 0u) << "once";
  EXPECT_TRUE(Stored("c"));
}

TEST_F(WrongTimes, ACorrectedIndexDropsNothingThatIsInTheWindow) {
  const int64_t day = kMsPerDay;
  ASSERT_TRUE(TakeItem("old", now_ - 7 * day));
  ASSERT_TRUE(TakeItem("newer", now_ - day));
  Checkpoint();
  TakeBelieved("future", kYear2100);
  // The process dies after it wrote the checkpoint's files, before it dropped old buckets: both are there.
  IndexPosition position = **index_->ReadPosition();
  position.index_time = {kYear2100};
  ASSERT_TRUE(index_->Checkpoint(position, 0));
  Open();
  EXPECT_EQ(flow_->Figures().times_corrected_total, 1u);
  EXPECT_TRUE(Stored("old"));
  EXPECT_TRUE(Stored("newer"));
  Checkpoint();
  EXPECT_TRUE(Stored("old"));
  ASSERT_TRUE(TakeItem("last", now_));
  EXPECT_EQ(sink_.topic.at("last").group_id, "old");
}

TEST_F(WrongTimes, ASlowClockCorrectsNoIndexTime) {
  ASSERT_TRUE(TakeItem("a", now_));
  Checkpoint();
  clock_.SetWall(now_ - kMsPerDay + 1);
  Open();
  EXPECT_EQ(flow_->Figures().times_corrected_total, 0u);
  EXPECT_TRUE(Stored("a"));
}

}  // namespace
}  // namespace seen::test
