// What an erased user leaves in a partition's files. After a compaction, only the key and its day are left.
#include <gtest/gtest.h>
#include <rocksdb/iterator.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "flow/partition_flow.h"
#include "flow/publisher.h"
#include "rows/keys.h"
#include "support/fakes.h"
#include "unit/store/store_fixture.h"

namespace seen {
namespace {

namespace fs = std::filesystem;

constexpr int64_t kNow = 1'763'700'000'000;
constexpr std::string_view kUser = "the-user-to-be-erased";
constexpr std::string_view kOther = "a-user-who-stays";

class ErasureFilesTest : public testing::Test {
 protected:
  void SetUp() override {
    topic_.fail_percent = 0;
    topic_.deliver_all = true;
    clock_.SetWall(kNow);
    auto directory = StoreDirectory::Open(folder_.path() + "/store");
    ASSERT_TRUE(directory.has_value());
    directory_ = std::move(*directory);
    StoreOptions options{.directory = directory_->path(),
                         .identity = {"exposures", 0, 1, "murmur2"},
                         .filters = {{"home", 30, {}}},
                         .resources = resources_};
    options.journal = true;
    auto store = RocksPartitionStore::Open(std::move(options));
    ASSERT_TRUE(store.has_value()) << store.error().message;
    auto open = std::make_shared<OpenPartition>();
    const std::vector<FilterId> ids = (*store)->filter_ids();
    open->store = std::move(*store);
    EventFormat format;
    format.wanted = {true, true, true, true, true};
    PartitionOptions flow;
    flow.plan = *EventPlan::Make(format);
    flow.filters = {{ids[0], "home", 30, 10'000, {}, SnapshotPolicy{}}};
    flow.unexposed = UnexposedPolicy{300, 600};
    flow.journal = JournalPolicy{30, std::make_shared<JournalBudget>(1 << 30)};
    open->flow = std::make_unique<PartitionFlow>(flow, std::nullopt, 0, 0, *open->store, dead_letters_,
                                                 reporter_, clock_);
    store_ = static_cast<RocksPartitionStore*>(open->store.get());
    flow_ = open->flow.get();
    opened_.Add(std::move(open));
    publisher_.emplace(opened_, topic_, reporter_, clock_, Publisher::Options());
  }
  void Send(std::string_view user, std::string_view kind, std::string_view items, int64_t at_ms) {
    std::string value = R"({"user_id":")" + std::string(user) + R"(","kind":")" + std::string(kind) + '"';
    if (!items.empty())
      value +=
          R"(,"items":[)" + std::string(items) + R"(],"request_id":"request-of-)" + std::string(user) + '"';
    value += R"(,"exposed_at":)" + std::to_string(at_ms) + "}";
    const Record record{next_++, {at_ms}, user, value, false};
    const auto taken = flow_->intake.Apply({&record, 1});
    ASSERT_TRUE(taken.has_value());
    ASSERT_EQ(*taken, 1u);
  }
  void Publish() {
    for (int i = 0; i < 5; ++i) {
      publisher_->Step();
      clock_.Advance(1'500);
    }
  }
  void Checkpoint() {
    flow_->intake.Freeze();
    const auto written = flow_->checkpoint.Write();
    ASSERT_TRUE(written.has_value()) << written.error().message;
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
  sim::VirtualClock clock_;
  sim::CountingReporter reporter_;
  std::mt19937_64 random_{1};
  sim::FakeSnapshotTopic topic_{random_};
  sim::FakeDeadLetters dead_letters_{random_};
  OpenPartitions opened_;
  RocksPartitionStore* store_ = nullptr;  // the store of the open partition
  PartitionFlow* flow_ = nullptr;
  std::optional<Publisher> publisher_;
  int64_t next_ = 0;
};

TEST_F(ErasureFilesTest, AfterAnErasureAndACompactionOnlyTheKeyAndItsDayAreLeft) {
  for (const std::string_view user : {kUser, kOther}) {
    const std::string items = R"("shown-to-)" + std::string(user) + R"(")";
    Send(user, "exposed", items, kNow - kMsPerDay);
    Send(user, "exposed", items, kNow);
    Send(user, "served", R"("served-to-)" + std::string(user) + R"(")", kNow);
    Send(user, "removed", R"("removed-from-)" + std::string(user) + R"(")", kNow);
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

  Send(kUser, "served", R"("served-just-before-to-the-user-to-be-erased")", kNow + 1'000);
  Send(kUser, "erased", "", kNow + 2'000);
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
  EXPECT_EQ(topic_.topic.count({FilterIndex(), std::string(kUser)}), 0u);
  EXPECT_EQ(topic_.topic.count({FilterIndex(), std::string(kOther)}), 1u);
}

}  // namespace
}  // namespace seen
