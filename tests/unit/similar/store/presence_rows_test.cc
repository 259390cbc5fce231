// The presence data of an index of items, written as rows and read back. A start reads these rows.
#include <gtest/gtest.h>
#include <rocksdb/db.h>

#include <random>

#include "similar/store/item_index_families.h"
#include "similar/store/item_index_rows.h"
#include "similar/store/item_presence.h"
#include "similar/store/rocks_item_indexes.h"
#include "unit/store/store_fixture.h"

namespace seen::test {
namespace {

TEST(PresenceRows, DenyNothingAndCountTheSame) {
  std::mt19937_64 random(1);
  PresenceHashes hashes;
  ItemPresence noted(1000, 1 << 20);  // of another size than `read`
  for (int i = 0; i < 90'000; ++i) {
    hashes.keys.push_back(ItemPresence::HashOf(std::to_string(random())));
    noted.Add(hashes.keys.back());
    if (i % 2 != 0) continue;
    const uint64_t listed = ItemPresence::HashOf("list " + std::to_string(random() % 20'000));
    hashes.listed.push_back(listed);
    noted.AddListed(listed);
  }
  ItemPresence read(135'000, 1 << 20);
  const std::vector<std::string> rows = EncodePresence(hashes);
  EXPECT_EQ(rows.size(), 3u) << "long ones are cut";
  for (const std::string& row : rows) ASSERT_TRUE(AddPresence(row, read));
  for (const uint64_t hash : hashes.keys) ASSERT_TRUE(read.Test(hash));
  int other = 0;
  for (const uint64_t hash : hashes.listed) other += read.Count(hash) != noted.Count(hash) ? 1 : 0;
  EXPECT_LT(other, 450) << "of 45,000: what passes by chance";
}

TEST(PresenceRows, RefusesWhatItDidNotWrite) {
  const std::string row = EncodePresence({{ItemPresence::HashOf("a")}, {ItemPresence::HashOf("b")}})[0];
  for (size_t length = 0; length < row.size(); ++length) {
    ItemPresence presence(10, 1 << 20);
    const bool is_whole_hashes_fewer = length == row.size() - 6;  // one hash fewer isn't noticed
    EXPECT_EQ(AddPresence(row.substr(0, length), presence), is_whole_hashes_fewer) << length;
  }
  std::string wrong = row;
  wrong[0] = 2;
  ItemPresence presence(10, 1 << 20);
  EXPECT_FALSE(AddPresence(wrong, presence)) << "of another version";
  wrong = row;
  wrong[1] = 3;
  EXPECT_FALSE(AddPresence(wrong, presence)) << "more keys than hashes";
}

class PresenceOfAnIndexTest : public ::testing::Test {
 protected:
  std::unique_ptr<RocksItemIndex> Open() {
    auto index = RocksItemIndex::Open({.directory = folder_.path(),
                                       .idf = IdfTable::Bundled(),
                                       .idf_text = std::string(IdfTable::BundledText()),
                                       .resources = resources_});
    EXPECT_TRUE(index) << index.error().message;
    return index ? std::move(*index) : nullptr;
  }
  static StoredItem Item(uint64_t number) {
    StoredItem item{"n" + std::to_string(number), {static_cast<int64_t>(number)}, {}};
    item.features.content_hash = number * 0x9e3779b97f4a7c15u;
    item.features.length = LengthClass::kLong;
    for (size_t band = 0; band < kBands; ++band)
      item.features.bands[band] = KeptBand(~number << 20 | band << 60);
    return item;
  }
  static void Add(ItemIndex& index, uint64_t number) {
    IndexChange change;
    change.added.push_back({{0, number}, Item(number), true});
    change.listed.push_back({{0, number}, Item(number).features});
    ASSERT_TRUE(index.Write(change));
    ASSERT_TRUE(index.Checkpoint({static_cast<int64_t>(number) + 1, number + 1, {}, {{0, number + 1}}}, 0));
  }
  static bool Has(const ItemIndex& index, uint64_t number) {
    KnownItem known;
    EXPECT_TRUE(index.Find(Item(number).item_id, Item(number).features.content_hash, 0, known));
    CandidateLists lists;
    const StoredItem item = Item(number);
    EXPECT_TRUE(index.Candidates({&item.features, true, true, 0}, 10, lists));
    return known.item && !known.copies.empty() && lists.bands[0].size() == 1;
  }
  // Writes to the index's files, and not through the index.
  template <typename Change>
  void ChangeFiles(Change change) {
    const std::string path = RocksItemIndex::PathOf(folder_.path(), 0) + "/rocks";
    const rocksdb::Options options =
        ItemIndexRocksOptions(resources_, rocksdb::Env::Default(), std::make_shared<BackgroundErrors>(0), 0);
    const rocksdb::ColumnFamilyOptions bucket = BucketFamilyOptions(resources_);
    std::vector<rocksdb::ColumnFamilyHandle*> handles;
    rocksdb::DB* db = nullptr;
    ASSERT_TRUE(
        rocksdb::DB::Open(options, path,
                          {{rocksdb::kDefaultColumnFamilyName, bucket}, {BucketFamilyName(0), bucket}},
                          &handles, &db)
            .ok());
    change(*db, handles[0], handles[1]);
    rocksdb::FlushOptions flush;
    ASSERT_TRUE(db->Flush(flush, handles).ok());
    for (rocksdb::ColumnFamilyHandle* handle : handles)
      ASSERT_TRUE(db->DestroyColumnFamilyHandle(handle).ok());
    delete db;
  }

  const TemporaryFolder folder_;
  const StoreResources resources_{16 << 20, 1};
};

TEST_F(PresenceOfAnIndexTest, IsReadFromItsRowsAndNotFromTheItems) {
  auto index = Open();
  for (const uint64_t number : {1u, 2u}) Add(*index, number);
  index.reset();
  ChangeFiles([](rocksdb::DB& db, rocksdb::ColumnFamilyHandle*, rocksdb::ColumnFamilyHandle* bucket) {
    for (const uint64_t number : {1u, 2u}) {
      ASSERT_TRUE(db.Delete(rocksdb::WriteOptions(), bucket, NumberKey(ItemTable::kItems, number)).ok());
    }
  });
  index = Open();
  EXPECT_TRUE(Has(*index, 1) && Has(*index, 2));
  EXPECT_FALSE(Has(*index, 3));
  Add(*index, 3);
  index.reset();
  index = Open();
  EXPECT_TRUE(Has(*index, 1) && Has(*index, 2) && Has(*index, 3)) << "a later row took the place of none";
}

TEST_F(PresenceOfAnIndexTest, IsMadeFromTheItemsWhereAnOlderVersionWroteTo) {
  auto index = Open();
  for (const uint64_t number : {1u, 2u}) Add(*index, number);
  index.reset();
  // As if a version that doesn't know these rows had taken another item.
  ChangeFiles(
      [](rocksdb::DB& db, rocksdb::ColumnFamilyHandle* position, rocksdb::ColumnFamilyHandle* bucket) {
        std::string value;
        EncodeIndexPosition({100, 3, {}, {{0, 3}}}, value);
        ASSERT_TRUE(db.Put(rocksdb::WriteOptions(), position, rocksdb::Slice(kIndexPositionKey), value).ok());
        ASSERT_TRUE(db.Delete(rocksdb::WriteOptions(), bucket, NumberKey(ItemTable::kPresence, 1)).ok());
      });
  testing::internal::CaptureStderr();
  index = Open();
  EXPECT_NE(testing::internal::GetCapturedStderr().find("written by an older version"), std::string::npos);
  EXPECT_TRUE(Has(*index, 1) && Has(*index, 2));
  Add(*index, 101);
  index.reset();
  index = Open();
  EXPECT_TRUE(Has(*index, 1) && Has(*index, 2) && Has(*index, 101))
      << "and so it stays until it is built again";
}

}  // namespace
}  // namespace seen::test
