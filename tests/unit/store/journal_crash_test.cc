// State and journal move together, even if the power fails at any single operation on the disk.
#include "journal_fixture.h"
#include "lossy_fixture.h"

namespace seen::test {
namespace {

const UserKey kAnna = User(1).user;
const UserKey kBert = User(2).user;
const Row kOld{kAnna, {TimeOn(kDay, 1), 1}, "old"};
const Row kErased{kBert, {TimeOn(kDay, 1), 2}, "erased"};
const Row kNew{kAnna, {TimeOn(kDay, 2), 11}, "new"};
const Row kNextDay{kBert, {TimeOn(kDay + 1, 2), 12}, "on a day that has no family yet"};

struct Found {
  int64_t next_offset = 0;
  std::vector<Row> anna, bert;
  std::optional<Day> start;
  friend bool operator==(const Found&, const Found&) = default;
};

Found ReadFound(const PartitionStore& store) {
  return {(*store.ReadPosition())->next_offset, RowsOf(store, kAnna), RowsOf(store, kBert),
          *store.ReadJournalStart()};
}

class JournalCrashTest : public LossyTest<JournalTest> {
 protected:
  void CutACheckpoint(bool torn) {
    const JournalCheckpoint first{At(10), kDay - 1, {}, {kOld, kErased}};
    const JournalCheckpoint second{At(20), kDay, {{kBert, kDay}}, {kNew, kNextDay}};
    const Found before{10, {kOld}, {kErased}, kDay - 1};
    const Found after{20, {kNew, kOld}, {kNextDay}, kDay};
    CutEveryOperation(first, second, before, after, ReadFound, torn, 400);
  }
};

TEST_F(JournalCrashTest, LeavesAllOfACheckpointOrNothingOfIt) { CutACheckpoint(false); }
TEST_F(JournalCrashTest, LeavesAllOfACheckpointOrNothingOfItAlsoWithTornWrites) { CutACheckpoint(true); }

TEST_F(JournalCrashTest, DroppingDaysLosesNothingElseWhereverItIsCut) {
  bool done = false;
  for (uint64_t operations = 0; !done; ++operations) {
    ASSERT_LT(operations, 400u);
    StoreOptions fresh = Round(operations);
    auto store = RocksPartitionStore::Open(fresh);
    ASSERT_TRUE(Commit(**store, {At(10), kDay, {}, {kOld, kNextDay}}));
    // The drop comes after the commit. The result of the commit doesn't depend on the drop.
    disk_.CrashAfter(operations);
    (void)Commit(**store, JournalCheckpoint{At(20), kDay + 1, {}, {}});
    done = disk_.operations() > 0 && (*store)->JournalDays().size() == 1;
    store->reset();
    disk_.Crash();
    fresh.file_system = disk_.Mount();
    auto reopened = RocksPartitionStore::Open(fresh);
    ASSERT_TRUE(reopened) << "after " << operations << ": " << reopened.error().message;
    EXPECT_EQ(RowsOf(**reopened, kBert), std::vector<Row>{kNextDay});
    const auto start = **(*reopened)->ReadJournalStart();
    if (RowsOf(**reopened, kAnna).empty()) {
      EXPECT_EQ(start, kDay + 1) << "after " << operations;
    }
    ASSERT_TRUE(Commit(**reopened, JournalCheckpoint{At(20), kDay + 1, {}, {}}));
    EXPECT_EQ((*reopened)->JournalDays().size(), 1u);
  }
}

TEST_F(JournalCrashTest, OpensWhereverAnUnwantedJournalsDroppingIsCut) {
  bool done = false;
  for (uint64_t operations = 0; !done; ++operations) {
    ASSERT_LT(operations, 500u);
    StoreOptions fresh = Round(operations);
    ASSERT_TRUE(Commit(**RocksPartitionStore::Open(fresh), {At(10), kDay, {}, {kOld, kNextDay}}));
    disk_.CrashAfter(operations);
    fresh.journal = false;
    done = RocksPartitionStore::Open(fresh).has_value();
    disk_.Crash();
    fresh.file_system = disk_.Mount();
    fresh.journal = true;
    const auto store = RocksPartitionStore::Open(fresh);
    ASSERT_TRUE(store) << "after " << operations << ": " << store.error().message;
    EXPECT_EQ((*(*store)->ReadPosition())->next_offset, 10);
    if ((*store)->JournalDays().size() < 2) {
      EXPECT_EQ(*(*store)->ReadJournalStart(), std::nullopt);
    }
  }
}

}  // namespace
}  // namespace seen::test
