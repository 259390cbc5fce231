// What an erased user leaves in a partition's files. After a compaction, only the key and its day are left.
#include <gtest/gtest.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "rows/keys.h"
#include "unit/flow/flow_fixture.h"
#include "unit/store/store_fixture.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kUser = "the-user-to-be-erased";
constexpr std::string_view kOther = "a-user-who-stays";

class ErasureFilesTest : public test::TimedTest {
 protected:
  void SetUp() override {
    auto directory = StoreDirectory::Open(folder_.path() + "/store");
    ASSERT_TRUE(directory.has_value());
    directory_ = std::move(*directory);
    StoreOptions stored{.directory = directory_->path(),
                        .identity = {"exposures", 0, 1, "murmur2"},
                        .filters = {{"home", 30, {}}},
                        .resources = resources_};
    stored.journal = true;
    auto store = RocksPartitionStore::Open(std::move(stored));
    ASSERT_TRUE(store.has_value()) << store.error().message;
    store_ = store->get();
    options.plan = *EventPlan::Make(format);
    options.filters = {{store_->filter_ids()[0], "home", 30, 10'000, {}, SnapshotPolicy{}}};
    options.unexposed = UnexposedPolicy{300, 600};
    options.journal = JournalPolicy{30, std::make_shared<JournalBudget>(1 << 30)};
    OpenFlowOver(std::move(*store), options, std::nullopt, 0, 0, clock);
    opened.Add(partition);
    publisher.emplace(opened, topic, reporter, clock, Publisher::Options());
  }
  void TearDown() override {  // the store closes before its directory goes
    publisher.reset();
    opened.Take(0);
    partition.reset();
  }
  void SendOf(std::string_view user, std::string_view kind, const std::string& item, int64_t at_ms) {
    const std::string more = R"(,"request_id":"request-of-)" + std::string(user) + '"';
    Send(Event(kind, item, at_ms, user, item.empty() ? "" : more), at_ms);
  }
  /// All bytes of all files, and all keys and values of the SST files, uncompressed.
  std::string AllBytes() const {
    std::string all;
    for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
      if (!entry.is_regular_file()) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::stringstream bytes;
      bytes << file.rdbuf();
      all += bytes.str();
      if (entry.path().extension() != ".sst") continue;
      rocksdb::SstFileReader reader{rocksdb::Options()};
      EXPECT_TRUE(reader.Open(entry.path()).ok());
      const std::unique_ptr<rocksdb::Iterator> at(reader.NewIterator(rocksdb::ReadOptions()));
      for (at->SeekToFirst(); at->Valid(); at->Next()) {
        all += at->key().ToString() + '\n' + at->value().ToString() + '\n';
      }
    }
    return all;
  }
  static bool Has(const std::string& bytes, std::string_view text) {
    return bytes.find(text) != std::string::npos;
  }

  test::TemporaryFolder folder_;
  StoreResources resources_{8 << 20, 1};
  std::unique_ptr<StoreDirectory> directory_;
  RocksPartitionStore* store_ = nullptr;  // the store of the open partition
};

TEST_F(ErasureFilesTest, AfterAnErasureAndACompactionOnlyTheKeyAndItsDayAreLeft) {
  for (const std::string_view user : {kUser, kOther}) {
    SendOf(user, "exposed", "shown-to-" + std::string(user), kNow - kMsPerDay);
    SendOf(user, "exposed", "shown-to-" + std::string(user), kNow);
    SendOf(user, "served", "served-to-" + std::string(user), kNow);
    SendOf(user, "removed", "removed-from-" + std::string(user), kNow);
  }
  Publish();
  Checkpoint();
  Publish();
  Checkpoint();
  ASSERT_TRUE(store_->CompactAll().has_value());
  const std::string before = AllBytes();
  for (const std::string_view user : {kUser, kOther}) {
    for (const char* about : {"", "shown-to-", "served-to-", "removed-from-", "request-of-"}) {
      EXPECT_TRUE(Has(before, about + std::string(user))) << about << user;
    }
  }

  SendOf(kUser, "served", "served-just-before-to-the-user-to-be-erased", kNow + 1'000);
  SendOf(kUser, "erased", "", kNow + 2'000);
  Publish();
  Checkpoint();
  Publish();
  Checkpoint();
  ASSERT_TRUE(store_->CompactAll().has_value());
  const std::string after = AllBytes();
  EXPECT_FALSE(Has(after, kUser));  // not even as part of an item's or a request's id
  for (const char* about : {"", "shown-to-", "served-to-", "removed-from-", "request-of-"}) {
    EXPECT_TRUE(Has(after, about + std::string(kOther))) << about;
  }
  const auto key = ToBytes(UserKeyOf(kUser));
  EXPECT_TRUE(Has(after, {key.data(), key.size()}));
  std::string stored;
  ASSERT_TRUE(*store_->ReadDelta({store_->filter_ids()[0], UserKeyOf(kUser)}, stored));
  const auto delta = DecodeDelta(stored);
  ASSERT_TRUE(delta.has_value());
  Delta only;
  only.erased = DayOf({kNow + 2'000});
  EXPECT_EQ(*delta, only);
  EXPECT_EQ(topic.topic.count({FilterIndex(), std::string(kUser)}), 0u);
  EXPECT_EQ(topic.topic.count({FilterIndex(), std::string(kOther)}), 1u);
}

}  // namespace
}  // namespace seen
