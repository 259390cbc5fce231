// A full or failing disk at midnight, when a checkpoint begins one day of the journal and drops another.
#include "journal_fixture.h"
#include "lossy_fixture.h"

namespace seen::test {
namespace {

const UserKey kAnna = User(1).user;

Row RowOn(Day day) { return {kAnna, {TimeOn(day, 1), day.since_epoch}, "row"}; }

class JournalDiskFaultTest : public LossyTest<JournalTest> {
 protected:
  using StoreTest::Open;
  // The first checkpoint of `day`. It keeps two days.
  static JournalCheckpoint FirstOf(Day day) { return {At(day.since_epoch), day - 1, {}, {RowOn(day)}}; }
  static void ExpectTwoDaysUpTo(const PartitionStore& store, Day day, const std::string& what) {
    EXPECT_EQ(store.JournalDays().size(), 2u) << what;
    EXPECT_EQ(RowsOf(store, kAnna), (std::vector<Row>{RowOn(day), RowOn(day - 1)})) << what;
  }
};

TEST_F(JournalDiskFaultTest, ANewDayGoesOnWhenThereIsSpaceAgain) {
  auto store = Open(OnLossyDisk());
  ASSERT_TRUE(Commit(*store, FirstOf(kDay - 1)));
  Day day = kDay;
  ASSERT_TRUE(Commit(*store, FirstOf(day)));
  int refused = 0;
  // The free space grows from nothing to nearly enough. So each write of the checkpoint fails in turn.
  for (uint64_t free = 0; free < 24'000; free += 1'000) {
    day = day + 1;
    disk_.SetFreeBytes(free);
    const Status full = Commit(*store, FirstOf(day));
    disk_.SetFreeBytes(std::nullopt);
    const std::string what = std::to_string(free) + " bytes are free";
    if (!full) {
      ++refused;
      EXPECT_EQ(full.error().code, Code::kNoSpace) << what << ": " << full.error().message;
    }
    const Status resumed = CommitSoon(*store, FirstOf(day));
    ASSERT_TRUE(resumed) << what << ": " << resumed.error().message;
    ExpectTwoDaysUpTo(*store, day, what);
  }
  EXPECT_GT(refused, 1);
  store.reset();
  ExpectTwoDaysUpTo(*Open(OnLossyDisk()), day, "opened again");
}

class EachFailedOperationAtMidnight : public JournalDiskFaultTest,
                                      public ::testing::WithParamInterface<DiskOperation> {};

TEST_P(EachFailedOperationAtMidnight, IsGotOver) {
  auto store = Open(OnLossyDisk());
  ASSERT_TRUE(Commit(*store, FirstOf(kDay - 1)));
  Day day = kDay;
  ASSERT_TRUE(Commit(*store, FirstOf(day)));
  for (uint64_t skip = 0; skip < 12; ++skip) {
    day = day + 1;
    disk_.FailNext(GetParam(), skip);
    (void)Commit(*store, FirstOf(day));  // a failed drop or description doesn't fail the checkpoint
    disk_.FailNext(GetParam(), UINT64_MAX);
    const Status resumed = CommitSoon(*store, FirstOf(day));
    const std::string what = "skip " + std::to_string(skip);
    ASSERT_TRUE(resumed) << what << ": " << resumed.error().message;
    ExpectTwoDaysUpTo(*store, day, what);
  }
  disk_.CrashAfter(0);
  store.reset();
  disk_.Crash();
  ExpectTwoDaysUpTo(*Open(OnLossyDisk()), day, "opened again");
}

INSTANTIATE_TEST_SUITE_P(OfACheckpoint, EachFailedOperationAtMidnight,
                         ::testing::Values(DiskOperation::kCreate, DiskOperation::kWrite,
                                           DiskOperation::kSync, DiskOperation::kSyncFolder,
                                           DiskOperation::kRename, DiskOperation::kLink));

}  // namespace
}  // namespace seen::test
