// State and journal move together, even if the power fails at any single operation on the disk.
#include "journal_fixture.h"
#include "support/lossy_file_system.h"

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

Found Read(const PartitionStore& store) {
  return {(*store.ReadPosition())->next_offset, RowsOf(store, kAnna), RowsOf(store, kBert),
          *store.ReadJournalStart()};
}

class JournalCrashTest : public JournalTest {
 protected:
  StoreOptions OnLossyDisk() {
    StoreOptions options = Options();
    options.file_system = disk_.Mount();
    return options;
  }

  void CutEveryOperation(bool torn) {
    const JournalCheckpoint first{At(10), kDay - 1, {}, {kOld, kErased}};
    const JournalCheckpoint second{At(20), kDay, {{kBert, kDay}}, {kNew, kNextDay}};
    const Found before{10, {kOld}, {kErased}, kDay - 1};
    const Found after{20, {kNew, kOld}, {kNextDay}, kDay};
    uint64_t olds = 0;
    uint64_t news = 0;
    bool done = false;
    for (uint64_t operations = 0; !done; ++operations) {
      ASSERT_LT(operations, 400u) << "a checkpoint is not that many operations";
      StoreOptions fresh = OnLossyDisk();
      fresh.identity.partition = static_cast<int32_t>(operations);
      auto store = RocksPartitionStore::Open(fresh);
      ASSERT_TRUE(store) << store.error().message;
      ASSERT_TRUE(Commit(**store, first));
      disk_.CrashAfter(operations);
      const Status committed = Commit(**store, second);
      done = committed.has_value();
      store->reset();
      disk_.Crash(torn ? operations + 1 : 0);

      fresh.file_system = disk_.Mount();
      auto reopened = RocksPartitionStore::Open(fresh);
      ASSERT_TRUE(reopened) << "after " << operations << ": " << reopened.error().message;
      const Found found = Read(**reopened);
      if (found == before) {
        ++olds;
        ASSERT_FALSE(committed) << "after " << operations << " a committed checkpoint is gone";
      } else {
        ++news;
        ASSERT_EQ(found, after) << "after " << operations;
      }
      ASSERT_TRUE(Commit(**reopened, second)) << "after " << operations;
      ASSERT_EQ(Read(**reopened), after) << "after " << operations;
      reopened->reset();
    }
    EXPECT_GT(olds, 3u);
    EXPECT_GT(news, 0u);
  }

  LossyDisk disk_{folder_.path()};
};

TEST_F(JournalCrashTest, LeavesAllOfACheckpointOrNothingOfIt) { CutEveryOperation(false); }
TEST_F(JournalCrashTest, LeavesAllOfACheckpointOrNothingOfItAlsoWithTornWrites) { CutEveryOperation(true); }

TEST_F(JournalCrashTest, DroppingDaysLosesNothingElseWhereverItIsCut) {
  bool done = false;
  for (uint64_t operations = 0; !done; ++operations) {
    ASSERT_LT(operations, 400u);
    StoreOptions fresh = OnLossyDisk();
    fresh.identity.partition = static_cast<int32_t>(operations);
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
    StoreOptions fresh = OnLossyDisk();
    fresh.identity.partition = static_cast<int32_t>(operations);
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
