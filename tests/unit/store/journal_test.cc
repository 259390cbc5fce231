// The journal of a partition's store: write rows, read them in order, delete days and users for good.
#include <algorithm>
#include <fstream>
#include <iterator>

#include "journal_fixture.h"
#include "store/journal_families.h"

namespace seen::test {
namespace {

const UserKey kAnna = User(1).user;
const UserKey kBert = User(2).user;
const UserKey kLast{~0ull, ~0ull};

Row RowAt(const UserKey& user, Day day, int64_t ms, int64_t offset, std::string value) {
  return {user, {TimeOn(day, ms), offset}, std::move(value)};
}

std::vector<Row> Rows(std::initializer_list<Row> rows) { return rows; }

TEST(JournalKeys, OrderNewestFirstWithinAUserAndComeBack) {
  const JournalPlace places[] = {{TimeOn(kDay, kMsPerDay - 1), 5},
                                 {TimeOn(kDay, 7), INT64_MAX},
                                 {TimeOn(kDay, 7), 5},
                                 {TimeOn(kDay, 7), 4},
                                 {TimeOn(kDay, 6), 1'000},
                                 {TimeOn(kDay, 0), 0}};
  std::string before = JournalUserBegin(kAnna);
  for (const JournalPlace& place : places) {
    const JournalKey key = JournalKeyOf(kAnna, place);
    const std::string bytes(key.begin(), key.end());
    EXPECT_LT(before, bytes);
    EXPECT_EQ(JournalPlaceOf(kDay, bytes), place);
    before = bytes;
  }
  EXPECT_LT(before, JournalUserEnd(kAnna));
  EXPECT_LT(JournalUserEnd({1, 2}), JournalUserBegin({1, 3}));
  EXPECT_FALSE(JournalPlaceOf(kDay, before + "x"));
  EXPECT_FALSE(JournalPlaceOf(kDay, std::string(kJournalKeyBytes, '\xff'))) << "no such time of day";
}

TEST(JournalKeys, FamiliesHaveOneNameADay) {
  for (const Day day : {Day{20'000}, Day{0}, Day{-1}})
    EXPECT_EQ(DayOfJournalFamily(JournalFamilyName(day)), day);
  EXPECT_EQ(JournalFamilyName({20'000}), "journal-20000");
  for (const char* name : {"default", "journal-", "journal-x", "journal-007", "journal-1x", "journal- 1"}) {
    EXPECT_FALSE(DayOfJournalFamily(name)) << name;
  }
}

TEST_F(JournalTest, GivesAUsersRowsNewestFirstAcrossDaysAndCheckpoints) {
  const auto first = Rows({RowAt(kAnna, kDay, 100, 1, "a"), RowAt(kBert, kDay, 100, 2, "of bert"),
                           RowAt(kLast, kDay, 100, 2, "of the last"), RowAt(kAnna, kDay + 1, 5, 3, "b")});
  const auto second = Rows({RowAt(kAnna, kDay, 200, 4, "c"), RowAt(kAnna, kDay + 1, 5, 5, "d")});
  auto store = Open();
  ASSERT_TRUE(Commit(*store, {At(4), {}, {}, first}));
  ASSERT_TRUE(Commit(*store, {At(6), {}, {}, second}));
  const auto expected = Rows({second[1], first[3], second[0], first[0]});
  EXPECT_EQ(RowsOf(*store, kAnna), expected);
  EXPECT_EQ(RowsOf(*store, kLast), Rows({first[2]}));
  EXPECT_EQ(RowsOf(*store, User(77).user), Rows({}));
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(RowsOf(*store, kAnna, expected[i].place),
              std::vector<Row>(expected.begin() + static_cast<std::ptrdiff_t>(i) + 1, expected.end()));
  }
  EXPECT_EQ(RowsOf(*store, kAnna, JournalPlace{TimeOn(kDay, 150), 9}), Rows({first[0]})) << "no such row";
  EXPECT_EQ(RowsOf(*store, kAnna, std::nullopt, kDay + 1), Rows({second[1], first[3]}));
  store.reset();
  EXPECT_EQ(RowsOf(*Open(), kAnna), expected);
}

TEST_F(JournalTest, StopsWhereTheVisitorDoes) {
  auto store = Open();
  ASSERT_TRUE(
      Commit(*store, {At(4), {}, {}, {RowAt(kAnna, kDay, 1, 1, "a"), RowAt(kAnna, kDay + 1, 1, 2, "b")}}));
  int visited = 0;
  ASSERT_TRUE(store->ReadRows(kAnna, kDay, std::nullopt, [&](const JournalPlace&, std::string_view) {
    ++visited;
    return false;
  }));
  EXPECT_EQ(visited, 1);
}

TEST_F(JournalTest, HoldsARowOnceThatWasWrittenTwice) {
  auto store = Open();
  const JournalCheckpoint checkpoint{At(4), {}, {}, {RowAt(kAnna, kDay, 1, 1, "a")}};
  ASSERT_TRUE(Commit(*store, checkpoint));
  ASSERT_TRUE(Commit(*store, checkpoint));
  EXPECT_EQ(RowsOf(*store, kAnna), checkpoint.rows);
  ASSERT_TRUE(store->CompactAll());
  EXPECT_EQ(RowsOf(*store, kAnna), checkpoint.rows);
}

TEST_F(JournalTest, ErasesWhatWasStoredUpToADayAndNothingElse) {
  auto store = Open();
  const auto before =
      Rows({RowAt(kAnna, kDay, 1, 1, "a"), RowAt(kAnna, kDay + 1, 1, 2, "b"),
            RowAt(kAnna, kDay + 2, 1, 3, "c"), RowAt(kBert, kDay, 1, 4, "d"), RowAt(kLast, kDay, 1, 5, "e")});
  ASSERT_TRUE(Commit(*store, {At(6), {}, {}, before}));
  // Rows in the same file as the erasure stay, even at the places of the erased rows.
  const auto with = Rows({RowAt(kAnna, kDay + 1, 1, 7, "f"), RowAt(kAnna, kDay + 1, 0, 8, "g")});
  ASSERT_TRUE(Commit(*store, {At(9), {}, {{kAnna, kDay + 1}, {kLast, kDay}}, with}));
  const auto after = Rows({RowAt(kAnna, kDay, 5, 9, "h")});
  ASSERT_TRUE(Commit(*store, {At(10), {}, {}, after}));
  const auto of_anna = Rows({before[2], with[0], with[1], after[0]});
  for (const bool compacted : {false, true}) {
    if (compacted) {
      ASSERT_TRUE(store->CompactAll());
    }
    EXPECT_EQ(RowsOf(*store, kAnna), of_anna) << compacted;
    EXPECT_EQ(RowsOf(*store, kBert), Rows({before[3]})) << compacted;
    EXPECT_EQ(RowsOf(*store, kLast), Rows({})) << compacted;
  }
}

bool FilesHold(const std::string& folder, const std::string& text) {
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    if (bytes.find(text) != std::string::npos) return true;
  }
  return false;
}

TEST_F(JournalTest, LeavesNothingOfAnErasedRowInTheFilesOnceCompacted) {
  // Compression would hide the text. So this text can't be compressed, and stands in the file as it is.
  const std::string secret = "7Qm#zX9!kP2&vL5@wR8^";
  auto store = Open();
  ASSERT_TRUE(
      Commit(*store, {At(2), {}, {}, {RowAt(kAnna, kDay, 1, 1, secret), RowAt(kBert, kDay, 1, 1, "b")}}));
  ASSERT_TRUE(FilesHold(folder_.path(), secret)) << "this test can't find it";
  ASSERT_TRUE(Commit(*store, {At(3), {}, {{kAnna, kDay}}, {}}));
  ASSERT_TRUE(store->CompactAll());
  EXPECT_FALSE(FilesHold(folder_.path(), secret));
  EXPECT_EQ(RowsOf(*store, kBert).size(), 1u);
}

TEST_F(JournalTest, DropsWholeDaysAndRemembersFromWhenOnItIsWhole) {
  auto store = Open();
  EXPECT_EQ(*store->ReadJournalStart(), std::nullopt);
  const auto rows = Rows({RowAt(kAnna, kDay, 1, 1, "a"), RowAt(kAnna, kDay + 1, 1, 2, "b")});
  ASSERT_TRUE(Commit(*store, {At(3), kDay - 5, {}, rows}));
  EXPECT_EQ(*store->ReadJournalStart(), kDay - 5);
  const auto days = store->JournalDays();
  ASSERT_EQ(days.size(), 2u);
  EXPECT_EQ(days[0].day, kDay);
  EXPECT_GT(days[0].bytes, 0u);
  EXPECT_EQ(store->Figures().journal_bytes, days[0].bytes + days[1].bytes);
  EXPECT_EQ(store->Figures().journal_days, 2u);
  ASSERT_TRUE(Commit(*store, {At(4), kDay + 1, {}, {}}));
  EXPECT_EQ(RowsOf(*store, kAnna), Rows({rows[1]}));
  EXPECT_EQ(store->JournalDays().size(), 1u);
  store.reset();
  store = Open();
  EXPECT_EQ(*store->ReadJournalStart(), kDay + 1);
  EXPECT_EQ(RowsOf(*store, kAnna), Rows({rows[1]}));
}

TEST_F(JournalTest, IsDroppedWhenItIsNoLongerWanted) {
  const std::string value = "7Qm#zX9!kP2&vL5@wR8^";
  ASSERT_TRUE(Commit(*Open(), {At(3), kDay, {}, {RowAt(kAnna, kDay, 1, 1, value)}}));
  {
    auto store = StoreTest::Open();
    EXPECT_TRUE(store->JournalDays().empty());
    EXPECT_EQ(*store->ReadJournalStart(), std::nullopt);
    EXPECT_EQ((*store->ReadPosition())->next_offset, 3);
    const Status refused = Commit(*store, JournalCheckpoint{At(4), kDay, {}, {}});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::kRefused);
    EXPECT_FALSE(FilesHold(folder_.path(), value));
    ASSERT_TRUE(Commit(*store, At(4)));
  }
  EXPECT_EQ(RowsOf(*Open(), kAnna), Rows({}));
}

TEST_F(JournalTest, RefusesPlacesThatDoNotAscend) {
  auto store = Open();
  auto writer = store->BeginCheckpoint({});
  ASSERT_TRUE(writer);
  ASSERT_TRUE((*writer)->AddRow(kAnna, {TimeOn(kDay, 1), 1}, "a"));
  const Status added = (*writer)->AddRow(kAnna, {TimeOn(kDay, 2), 2}, "b");
  ASSERT_FALSE(added);
  EXPECT_EQ(added.error().code, Code::kInvalidArgument);
}

TEST_F(JournalTest, LeavesNoTraceOfACheckpointThatIsGivenUp) {
  auto store = Open();
  {
    auto writer = store->BeginCheckpoint({});
    ASSERT_TRUE((*writer)->AddRow(kAnna, {TimeOn(kDay, 1), 1}, "a"));
  }
  EXPECT_EQ(RowsOf(*store, kAnna), Rows({}));
  EXPECT_TRUE(std::filesystem::is_empty(StoreDirectory::IncomingPath(folder_.path())));
}

TEST_F(JournalTest, AReaderKeepsADayThatIsDroppedMeanwhile) {
  auto store = Open();
  ASSERT_TRUE(
      Commit(*store, {At(3), kDay, {}, {RowAt(kAnna, kDay, 1, 1, "a"), RowAt(kAnna, kDay, 2, 2, "b")}}));
  std::vector<std::string> read;
  ASSERT_TRUE(store->ReadRows(kAnna, kDay, std::nullopt, [&](const JournalPlace&, std::string_view row) {
    if (read.empty()) {
      EXPECT_TRUE(Commit(*store, JournalCheckpoint{At(4), kDay + 1, {}, {}}));
    }
    read.emplace_back(row);
    return true;
  }));
  EXPECT_EQ(read, (std::vector<std::string>{"b", "a"}));
}

}  // namespace
}  // namespace seen::test
