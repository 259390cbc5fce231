// A full disk and a failing disk. The store doesn't change, and goes on without being opened again.
#include "lossy_fixture.h"

namespace seen::test {
namespace {

class DiskFaultTest : public LossyTest<StoreTest> {
 protected:
  // One operand for each of 20 users, of about 3 KB each.
  static Checkpoint Big(int64_t offset) {
    Checkpoint checkpoint = At(offset);
    for (uint64_t user = 0; user < 20; ++user) {
      std::vector<uint32_t> items;
      for (uint32_t i = 0; i < 1000; ++i) items.push_back(i * 4'000'000u + static_cast<uint32_t>(offset));
      checkpoint.deltas[User(user)] = Exposures(kDay, items);
    }
    return checkpoint;
  }
  static size_t Items(const PartitionStore& store) {
    return Read(store, {User(3)}).deltas.at(User(3)).segments.front().fingerprints.size();
  }
};

TEST_F(DiskFaultTest, SaysNoSpaceChangesNothingAndGoesOnWhenThereIsSpaceAgain) {
  auto store = Open(OnLossyDisk());
  ASSERT_TRUE(Commit(*store, Big(1)));
  const size_t items = Items(*store);
  // The free space grows from nothing to nearly enough. So the file, its table of contents and the manifest
  // fail in turn.
  for (uint64_t free = 0; free < 120'000; free += 4'000) {
    disk_.SetFreeBytes(free);
    const Status full = Commit(*store, Big(2));
    if (full) break;
    ASSERT_EQ(full.error().code, Code::kNoSpace) << full.error().message;
    ASSERT_EQ((*store->ReadPosition())->next_offset, 1);
    ASSERT_EQ(Items(*store), items);
    disk_.SetFreeBytes(std::nullopt);
  }
  disk_.SetFreeBytes(std::nullopt);
  const Status resumed = CommitSoon(*store, Big(3));
  ASSERT_TRUE(resumed) << resumed.error().message;
  store.reset();
  EXPECT_EQ((*Open(OnLossyDisk())->ReadPosition())->next_offset, 3);
}

TEST_F(DiskFaultTest, GoesOnAfterTheManifestFoundNoSpace) {
  auto store = Open(OnLossyDisk());
  // The most free bytes with which a checkpoint still fails. Its last write fails, which is the manifest's.
  uint64_t enough = 0;
  const Checkpoint small = At(1);
  for (uint64_t step = 4096; step > 0; step /= 2) {
    ASSERT_TRUE(store->CompactAll());  // otherwise a background compaction could use up the bytes
    disk_.SetFreeBytes(enough + step);
    const Status committed = Commit(*store, small);
    disk_.SetFreeBytes(std::nullopt);
    if (!committed) {
      ASSERT_EQ(committed.error().code, Code::kNoSpace) << committed.error().message;
      enough += step;
      ASSERT_TRUE(CommitSoon(*store, small));
    }
  }
  ASSERT_TRUE(store->CompactAll());
  disk_.SetFreeBytes(enough);
  const Status full = Commit(*store, At(7));
  ASSERT_FALSE(full);
  EXPECT_EQ(full.error().code, Code::kNoSpace);
  EXPECT_FALSE(Commit(*store, At(7))) << "still full";
  EXPECT_EQ((*store->ReadPosition())->next_offset, 1) << "reads go on";
  disk_.SetFreeBytes(std::nullopt);
  ASSERT_TRUE(CommitSoon(*store, At(8)));
  disk_.CrashAfter(0);
  store.reset();
  disk_.Crash();
  EXPECT_EQ((*Open(OnLossyDisk())->ReadPosition())->next_offset, 8);
}

TEST_F(DiskFaultTest, GoesOnAfterACompactionFoundNoSpace) {
  auto store = Open(OnLossyDisk());
  for (int64_t offset = 1; offset <= 3; ++offset) ASSERT_TRUE(Commit(*store, Big(offset)));
  disk_.SetFreeBytes(5'000);
  const Status compacted = store->CompactAll();
  ASSERT_FALSE(compacted);
  EXPECT_EQ(compacted.error().code, Code::kNoSpace) << compacted.error().message;
  EXPECT_EQ(Items(*store), 3000u);
  disk_.SetFreeBytes(std::nullopt);
  ASSERT_TRUE(CommitSoon(*store, Big(4)));
  ASSERT_TRUE(store->CompactAll());
  EXPECT_EQ(Items(*store), 4000u);
}

// Each operation of a checkpoint fails once. The disk is fine before and after.
class EachFailedOperation : public DiskFaultTest, public ::testing::WithParamInterface<DiskOperation> {};

TEST_P(EachFailedOperation, IsReportedAndGotOver) {
  auto store = Open(OnLossyDisk());
  int64_t offset = 1;
  ASSERT_TRUE(Commit(*store, Big(offset)));
  uint64_t failures = 0;
  for (uint64_t skip = 0; skip < 20; ++skip) {
    disk_.FailNext(GetParam(), skip);
    const Status failed = Commit(*store, Big(offset + 1));
    disk_.FailNext(GetParam(), UINT64_MAX);
    if (failed) {
      if (GetParam() != DiskOperation::kLink || skip > 0) break;
      ++offset;  // RocksDB copies a file that it can't link
      continue;
    }
    ++failures;
    EXPECT_EQ(failed.error().code, Code::kUnavailable) << failed.error().message;
    EXPECT_EQ((*store->ReadPosition())->next_offset, offset) << "skip " << skip;
    const Status resumed = CommitSoon(*store, Big(++offset));
    ASSERT_TRUE(resumed) << "skip " << skip << ": " << resumed.error().message;
    EXPECT_EQ((*store->ReadPosition())->next_offset, offset) << "skip " << skip;
  }
  EXPECT_GE(failures, GetParam() == DiskOperation::kLink ? 0u : 1u);
  EXPECT_LT(failures, 20u);
  disk_.CrashAfter(0);
  store.reset();
  disk_.Crash();
  store = Open(OnLossyDisk());
  EXPECT_GE((*store->ReadPosition())->next_offset, offset);
}

INSTANTIATE_TEST_SUITE_P(OfACheckpoint, EachFailedOperation,
                         ::testing::Values(DiskOperation::kCreate, DiskOperation::kWrite,
                                           DiskOperation::kSync, DiskOperation::kSyncFolder,
                                           DiskOperation::kLink));

}  // namespace
}  // namespace seen::test
