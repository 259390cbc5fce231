// The disk is full or fails while a store is opened. The error says what to do, and the next try works.
#include <unistd.h>

#include <fstream>

#include "journal_fixture.h"
#include "lossy_fixture.h"

namespace seen::test {
namespace {

namespace fs = std::filesystem;

using OpeningFaultTest = LossyTest<JournalTest>;

TEST_F(OpeningFaultTest, SaysNoSpaceAndOpensWhenThereIsSpace) {
  int refused = 0;
  for (int32_t partition = 0; partition < 20; ++partition) {
    StoreOptions options = OnLossyDisk();
    options.identity.partition = partition;
    const uint64_t free = static_cast<uint64_t>(partition) * 500;
    disk_.SetFreeBytes(free);
    for (int tries = 0; tries < 2; ++tries) {
      const auto full = RocksPartitionStore::Open(options);
      if (full) continue;
      ++refused;
      EXPECT_EQ(full.error().code, Code::kNoSpace) << free << " bytes: " << full.error().message;
      EXPECT_NE(full.error().message.find("no space left on the disk of store.directory"), std::string::npos)
          << full.error().message;
    }
    disk_.SetFreeBytes(std::nullopt);
    EXPECT_TRUE(Commit(*StoreTest::Open(options), At(1))) << free << " bytes";
  }
  EXPECT_GT(refused, 3);
}

TEST_F(OpeningFaultTest, SaysNoSpaceAndKeepsTheStateThatIsThere) {
  const JournalCheckpoint checkpoint{At(10), kDay, {}, {{User(1).user, {TimeOn(kDay, 1), 1}, "row"}}};
  ASSERT_TRUE(Commit(*StoreTest::Open(OnLossyDisk()), checkpoint));
  int refused = 0;
  for (uint64_t free = 0; free < 10'000; free += 500) {
    disk_.SetFreeBytes(free);
    const auto full = RocksPartitionStore::Open(OnLossyDisk());
    disk_.SetFreeBytes(std::nullopt);
    if (full) continue;
    ++refused;
    EXPECT_EQ(full.error().code, Code::kNoSpace) << free << " bytes: " << full.error().message;
  }
  EXPECT_GT(refused, 0);
  const auto store = StoreTest::Open(OnLossyDisk());
  EXPECT_EQ((*store->ReadPosition())->next_offset, 10);
  EXPECT_EQ(RowsOf(*store, User(1).user).size(), 1u);
}

class EachFailedOperationOfAnOpening : public OpeningFaultTest,
                                       public ::testing::WithParamInterface<DiskOperation> {};

TEST_P(EachFailedOperationOfAnOpening, MayBeTriedAgain) {
  int refused = 0;
  for (uint64_t skip = 0; skip < 10; ++skip) {
    StoreOptions options = OnLossyDisk();
    options.identity.partition = static_cast<int32_t>(skip);
    disk_.FailNext(GetParam(), skip);
    const auto failed = RocksPartitionStore::Open(options);
    disk_.FailNext(GetParam(), UINT64_MAX);
    if (failed) continue;
    ++refused;
    EXPECT_EQ(failed.error().code, Code::kUnavailable) << failed.error().message;
    EXPECT_TRUE(Commit(*StoreTest::Open(options), At(1))) << "skip " << skip;
  }
  EXPECT_GT(refused, 0);
}

INSTANTIATE_TEST_SUITE_P(Each, EachFailedOperationOfAnOpening,
                         ::testing::Values(DiskOperation::kCreate, DiskOperation::kWrite,
                                           DiskOperation::kSync, DiskOperation::kSyncFolder,
                                           DiskOperation::kRename, DiskOperation::kCreateFolder));

TEST(StoreDirectory, OpensWhereTheLockHasNoSpaceForItsText) {
  const TemporaryFolder folder;
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "no /dev/full";
  fs::create_symlink("/dev/full", folder.path() + "/LOCK");
  const auto directory = StoreDirectory::Open(folder.path());
  EXPECT_TRUE(directory) << directory.error().message;
}

// RocksDB's own messages become our warnings and errors only if somebody can act on them.
TEST_F(JournalTest, CheckpointsLogNothing) {
  ::testing::internal::CaptureStderr();
  {
    const auto store = Open();
    for (int64_t i = 0; i < 3; ++i) {
      const JournalCheckpoint checkpoint{At(i), kDay, {}, {{User(1).user, {TimeOn(kDay, i), i}, "row"}}};
      ASSERT_TRUE(Commit(*store, checkpoint));
    }
    ASSERT_TRUE(store->CompactAll());
  }
  EXPECT_EQ(RowsOf(*Open(), User(1).user).size(), 3u);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace seen::test
