// What a loss of power leaves, at each single operation on the disk.
#include <functional>

#include "store_fixture.h"
#include "support/lossy_file_system.h"

namespace seen::test {
namespace {

class CrashTest : public StoreTest {
 protected:
  StoreOptions OnLossyDisk() {
    StoreOptions options = Options();
    options.file_system = disk_.Mount();
    return options;
  }
  LossyDisk disk_{folder_.path()};
};

const std::vector<UserRef> kUsers = {User(1), User(2), User(3, 1)};

Checkpoint First() {
  Checkpoint first = At(10);
  first.deltas[User(1)] = Exposures(kDay, {1});
  first.deltas[User(2)] = Exposures(kDay, {1});
  first.marks[User(1)] = true;
  return first;
}
const Contents kAfterFirst{First().position, First().deltas, {User(1)}};

Checkpoint Second() {
  Checkpoint second = At(20);
  second.deltas[User(2)] = Exposures(kDay, {2});
  second.deltas[User(3, 1)] = Exposures(kDay, {3});
  second.marks[User(1)] = false;
  second.marks[User(3, 1)] = true;
  return second;
}
Contents AfterSecond() {
  Contents contents{Second().position, First().deltas, {User(3, 1)}};
  contents.deltas[User(2)] = Exposures(kDay, {1, 2});
  contents.deltas[User(3, 1)] = Exposures(kDay, {3});
  return contents;
}

TEST_F(CrashTest, KeepsACommittedCheckpoint) {
  auto store = Open(OnLossyDisk());
  ASSERT_TRUE(Commit(*store, First()));
  disk_.CrashAfter(0);
  store.reset();
  disk_.Crash();
  EXPECT_EQ(Read(*Open(OnLossyDisk()), kUsers), kAfterFirst);
}

// `torn`: whether files keep a random part of their unsynced bytes.
void LeavesTheOldStateOrTheNewOne(LossyDisk& disk, const std::function<StoreOptions()>& options, bool torn) {
  uint64_t olds = 0;
  uint64_t news = 0;
  bool done = false;
  for (uint64_t operations = 0; !done; ++operations) {
    ASSERT_LT(operations, 300u) << "a checkpoint is not that many operations";
    // Each round takes a new partition. In one partition, so many checkpoints would cause compactions.
    StoreOptions fresh = options();
    fresh.identity.partition = static_cast<int32_t>(operations);
    auto store = RocksPartitionStore::Open(fresh);
    ASSERT_TRUE(store) << store.error().message;
    ASSERT_TRUE(Commit(**store, First()));
    disk.CrashAfter(operations);
    const Status committed = Commit(**store, Second());
    done = committed.has_value();
    store->reset();
    disk.Crash(torn ? operations + 1 : 0);

    fresh.file_system = options().file_system;
    auto reopened = RocksPartitionStore::Open(fresh);
    ASSERT_TRUE(reopened) << "after " << operations << ": " << reopened.error().message;
    const Contents contents = Read(**reopened, kUsers);
    if (contents == kAfterFirst) {
      ++olds;
      ASSERT_FALSE(committed) << "after " << operations << " a committed checkpoint is gone";
    } else {
      ++news;
      ASSERT_EQ(contents, AfterSecond()) << "after " << operations;
    }
    ASSERT_TRUE(Commit(**reopened, At(30))) << "after " << operations;
    reopened->reset();
  }
  EXPECT_GT(olds, 3u);
  EXPECT_GT(news, 0u);
}

TEST_F(CrashTest, LeavesTheOldStateOrTheNewOneWhereverACheckpointIsCut) {
  LeavesTheOldStateOrTheNewOne(
      disk_, [&] { return OnLossyDisk(); }, false);
}

TEST_F(CrashTest, LeavesTheOldStateOrTheNewOneAlsoWithTornWrites) {
  LeavesTheOldStateOrTheNewOne(
      disk_, [&] { return OnLossyDisk(); }, true);
}

TEST_F(CrashTest, OpensAgainWhereverTheFirstOpeningIsCut) {
  bool done = false;
  for (uint64_t operations = 0; !done; ++operations) {
    ASSERT_LT(operations, 500u);
    StoreOptions fresh = OnLossyDisk();
    fresh.identity.partition = static_cast<int32_t>(operations);
    disk_.CrashAfter(operations);
    {
      const auto store = RocksPartitionStore::Open(fresh);
      done = store.has_value();
    }
    disk_.Crash();
    fresh.file_system = disk_.Mount();
    const auto store = RocksPartitionStore::Open(fresh);
    ASSERT_TRUE(store) << "after " << operations << ": " << store.error().message;
    ASSERT_TRUE(Commit(**store, First())) << "after " << operations;
  }
}

TEST_F(CrashTest, LosesNothingWhereverACompactionIsCut) {
  bool done = false;
  for (uint64_t operations = 0; !done; ++operations) {
    ASSERT_LT(operations, 300u);
    StoreOptions fresh = OnLossyDisk();
    fresh.identity.partition = static_cast<int32_t>(operations);
    auto store = Open(fresh);
    ASSERT_TRUE(Commit(*store, First()));
    ASSERT_TRUE(Commit(*store, Second()));
    disk_.CrashAfter(operations);
    done = store->CompactAll().has_value();
    store.reset();
    disk_.Crash();
    fresh.file_system = disk_.Mount();
    EXPECT_EQ(Read(*Open(fresh), kUsers), AfterSecond()) << "after " << operations;
  }
}

}  // namespace
}  // namespace seen::test
