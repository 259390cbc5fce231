// What a loss of power leaves, at each single operation on the disk.
#include "lossy_fixture.h"

namespace seen::test {
namespace {

using CrashTest = LossyTest<StoreTest>;

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

Contents ReadUsers(const PartitionStore& store) { return Read(store, kUsers); }

TEST_F(CrashTest, LeavesTheOldStateOrTheNewOneWhereverACheckpointIsCut) {
  CutEveryOperation(First(), Second(), kAfterFirst, AfterSecond(), ReadUsers, false, 300);
}

TEST_F(CrashTest, LeavesTheOldStateOrTheNewOneAlsoWithTornWrites) {
  CutEveryOperation(First(), Second(), kAfterFirst, AfterSecond(), ReadUsers, true, 300);
}

TEST_F(CrashTest, OpensAgainWhereverTheFirstOpeningIsCut) {
  bool done = false;
  for (uint64_t operations = 0; !done; ++operations) {
    ASSERT_LT(operations, 500u);
    StoreOptions fresh = Round(operations);
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
    StoreOptions fresh = Round(operations);
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
