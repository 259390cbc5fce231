#include <rocksdb/perf_context.h>
#include <rocksdb/perf_level.h>

#include <algorithm>
#include <atomic>
#include <random>
#include <thread>

#include "flow/user_rows.h"
#include "model/change.h"
#include "store_fixture.h"
#include "support/random_history.h"

namespace seen::test {
namespace {

TEST_F(StoreTest, IsEmptyWhenNew) {
  const auto store = Open();
  EXPECT_EQ(Read(*store, {User(1)}), Contents{});
  EXPECT_EQ(store->filter_ids(), (std::vector<FilterId>{0, 1}));
}

TEST_F(StoreTest, HasPositionDeltasAndMarksAgainWhenReopened) {
  Contents expected;
  {
    const auto store = Open();
    Checkpoint checkpoint = At(17);
    checkpoint.position.partition_time = {1'763'700'000'123};
    checkpoint.position.anchor = {16, {1'763'700'000'000}, 0xfeedfacecafebeefu};
    checkpoint.position.lost_ranges = {{3, 9, {1'763'600'000'000}}};
    checkpoint.position.filters = {{0, {1'763'600'000'000}, true, 30, LastPublished::kUnread}};
    checkpoint.deltas[User(1)] = Exposures(kDay, {1, 2, 3}, "u1");
    checkpoint.deltas[User(1, 1)] = Exposures(kDay, {7}, "u1");
    checkpoint.marks[User(1, 1)] = true;
    ASSERT_TRUE(Commit(*store, checkpoint));
    expected = {checkpoint.position, checkpoint.deltas, {User(1, 1)}};
    EXPECT_EQ(Read(*store, {User(1), User(1, 1), User(2)}), expected);
  }
  EXPECT_EQ(Read(*Open(), {User(1), User(1, 1), User(2)}), expected);
}

TEST_F(StoreTest, KeepsNothingOfACheckpointThatIsNotCommitted) {
  auto store = Open();
  Checkpoint kept = At(1);
  kept.deltas[User(1)] = Exposures(kDay, {1});
  ASSERT_TRUE(Commit(*store, kept));
  {
    Checkpoint dropped = At(2);
    dropped.deltas[User(1)] = Exposures(kDay, {2});
    dropped.marks[User(1)] = true;
    ASSERT_TRUE(Prepare(*store, dropped));
    EXPECT_EQ(Read(*store, {User(1)}), (Contents{kept.position, kept.deltas, {}}));
  }
  EXPECT_TRUE(std::filesystem::is_empty(StoreDirectory::IncomingPath(folder_.path())));
  store.reset();
  EXPECT_EQ(Read(*Open(), {User(1)}), (Contents{kept.position, kept.deltas, {}}));
}

TEST_F(StoreTest, SetsClearsReadsAndScansMarks) {
  const auto store = Open();
  Checkpoint first = At(1);
  std::vector<UserRef> all;
  for (uint64_t i = 0; i < 25; ++i) {
    all.push_back(User(i, FilterId(i % 2)));
    first.marks[all.back()] = true;
  }
  std::sort(all.begin(), all.end());
  ASSERT_TRUE(Commit(*store, first));
  Checkpoint second = At(2);
  for (size_t i = 0; i < all.size(); i += 5) second.marks[all[i]] = false;
  ASSERT_TRUE(Commit(*store, second));
  std::vector<UserRef> left;
  for (size_t i = 0; i < all.size(); ++i) {
    if (i % 5 != 0) left.push_back(all[i]);
    const auto mark = store->ReadMark(all[i]);
    ASSERT_TRUE(mark.has_value()) << mark.error().message;
    EXPECT_EQ(*mark, i % 5 != 0 ? std::optional(Mark{all[i], {}}) : std::nullopt);
  }
  std::vector<UserRef> scanned;
  std::optional<UserRef> after;
  for (int pages = 0; pages < 10; ++pages) {
    const auto page = store->ScanMarks(after, 7);
    ASSERT_TRUE(page.has_value());
    EXPECT_LE(page->size(), 7u);
    if (page->empty()) break;
    for (const Mark& mark : *page) scanned.push_back(mark.user);
    after = page->back().user;
  }
  EXPECT_EQ(scanned, left);
  EXPECT_TRUE(store->ScanMarks(User(1, 1), 0)->empty());
}

// Everybody's marks are set and cleared when everybody is published. A seek to one mark would cross them all.
TEST_F(StoreTest, FindsTheIdOfOneUserAmongManyClearedMarks) {
  const auto store = Open();
  Checkpoint set = At(1);
  for (uint64_t i = 0; i < 1000; ++i) set.marks[User(i)] = true;
  ASSERT_TRUE(Commit(*store, set));
  Checkpoint clear = At(2);
  for (uint64_t i = 0; i < 1000; ++i) clear.marks[User(i)] = false;
  clear.deltas[User(5)] = Exposures(kDay, {1}, "u5");
  ASSERT_TRUE(Commit(*store, clear));

  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kEnableCount);
  rocksdb::get_perf_context()->Reset();
  const auto id = StoredUserId(*store, User(5));
  ASSERT_TRUE(id.has_value()) << id.error().message;
  EXPECT_EQ(*id, "u5");
  EXPECT_LT(rocksdb::get_perf_context()->internal_delete_skipped_count, 10u);
  rocksdb::SetPerfLevel(rocksdb::PerfLevel::kDisable);
}

TEST_F(StoreTest, ComposesManyCheckpointsAsComposeAllDoes) {
  std::mt19937_64 random(7);
  const HistoryShape shape;
  std::map<UserRef, std::vector<Delta>> histories;
  std::vector<UserRef> users;
  for (uint64_t i = 0; i < 8; ++i) users.push_back(User(i, FilterId(i % 2)));
  std::sort(users.begin(), users.end());
  auto store = Open();
  const auto expect_all_composed = [&] {
    std::string bytes;
    for (const UserRef& user : users) {
      if (histories[user].empty()) continue;
      ASSERT_TRUE(*store->ReadDelta(user, bytes));
      EXPECT_EQ(bytes, Encoded(ComposeAll(histories[user], {})));
    }
  };
  for (int64_t offset = 1; offset <= 60; ++offset) {
    Checkpoint checkpoint = At(offset);
    for (const UserRef& user : users) {
      if (random() % 3 == 0) continue;
      const Delta delta = DeltaOf("u", RandomHistory(random, 1 + random() % 6, shape), {});
      checkpoint.deltas[user] = delta;
      histories[user].push_back(delta);
    }
    ASSERT_TRUE(Commit(*store, checkpoint));
    if (offset % 15 == 0) expect_all_composed();
    if (offset == 30) {
      store.reset();
      store = Open();
    }
  }
  ASSERT_TRUE(store->CompactAll());
  expect_all_composed();
  EXPECT_EQ((*store->ReadPosition())->next_offset, 60);
}

TEST_F(StoreTest, CutsADayAtItsFiltersOwnLimit) {
  StoreOptions options = Options();
  options.filters[1].limits.items_per_day_max = 2;
  const auto store = Open(options);
  for (int64_t offset = 1; offset <= 3; ++offset) {
    Checkpoint checkpoint = At(offset);
    const auto item = static_cast<uint32_t>(10 - offset);
    for (const FilterId filter : {FilterId{0}, FilterId{1}})
      checkpoint.deltas[User(1, filter)] = Exposures(kDay, {item});
    ASSERT_TRUE(Commit(*store, checkpoint));
  }
  const Contents contents = Read(*store, {User(1, 0), User(1, 1)});
  EXPECT_EQ(contents.deltas.at(User(1, 0)), Exposures(kDay, {7, 8, 9}));
  EXPECT_EQ(contents.deltas.at(User(1, 1)), Exposures(kDay, {7, 8}));
}

TEST_F(StoreTest, ExpiresValuesThatNobodyTouchesAndDropsEmptyOnes) {
  const auto store = Open();
  const std::vector<UserRef> users = {User(1), User(2), User(1, 1)};
  for (int64_t offset = 1; offset <= 2; ++offset) {
    Checkpoint checkpoint = At(offset);
    const Day day = offset == 1 ? kDay : kDay + 5;
    checkpoint.deltas[User(1)] = Exposures(day, {1});
    if (offset == 1) checkpoint.deltas[User(2)] = Exposures(kDay, {2});
    checkpoint.deltas[User(1, 1)] = Exposures(day, {3});
    ASSERT_TRUE(Commit(*store, checkpoint));
  }
  ASSERT_TRUE(store->CompactAll());  // now the deltas are values, not operands
  const Contents before = Read(*store, users);
  ASSERT_EQ(before.deltas.size(), 3u);

  store->SetHorizon(0, Horizon::Of(kDay + 5));
  EXPECT_EQ(Read(*store, users), before) << "a value is not touched by reading it";
  ASSERT_TRUE(store->CompactAll());
  Contents after = Read(*store, users);
  EXPECT_EQ(after.deltas.at(User(1)), Exposures(kDay + 5, {1}));
  EXPECT_FALSE(after.deltas.contains(User(2)));
  EXPECT_EQ(after.deltas.at(User(1, 1)), before.deltas.at(User(1, 1))) << "another filter's horizon";
  EXPECT_EQ(after.position->next_offset, 2);
}

TEST_F(StoreTest, ExpiresWhatItMergesAndNothingThatIsYoungerThanTheHorizon) {
  const auto store = Open();
  store->SetHorizon(0, Horizon::Of(kDay + 3));  // set first, because a compaction may merge at any time
  for (int64_t offset = 1; offset <= 4; ++offset) {
    Checkpoint checkpoint = At(offset);
    checkpoint.deltas[User(1)] = Exposures(kDay + static_cast<int32_t>(offset), {1});
    ASSERT_TRUE(Commit(*store, checkpoint));
  }
  const Delta merged = Read(*store, {User(1)}).deltas.at(User(1));
  ASSERT_EQ(merged.segments.size(), 2u);
  EXPECT_EQ(merged.segments.front().day, kDay + 3);
}

TEST_F(StoreTest, KeepsTheStateOfAFilterThatIsTakenOutAndBroughtBack) {
  Checkpoint checkpoint = At(1);
  checkpoint.deltas[User(1, 0)] = Exposures(kDay, {1});
  checkpoint.deltas[User(1, 1)] = Exposures(kDay, {2});
  ASSERT_TRUE(Commit(*Open(), checkpoint));
  StoreOptions without = Options();
  without.filters = {{"search", 3, {}}, {"video", 7, {}}};
  {
    const auto store = Open(without);
    EXPECT_EQ(store->filter_ids(), (std::vector<FilterId>{2, 1}));
    EXPECT_EQ(store->retired_filters(), std::vector<FilterId>{0});
    Checkpoint more = At(2);
    more.deltas[User(1, 1)] = Exposures(kDay, {3});
    ASSERT_TRUE(Commit(*store, more));
    ASSERT_TRUE(store->CompactAll());
  }
  const auto store = Open();
  EXPECT_EQ(store->filter_ids(), (std::vector<FilterId>{0, 1}));
  const Contents contents = Read(*store, {User(1, 0), User(1, 1)});
  EXPECT_EQ(contents.deltas.at(User(1, 0)), Exposures(kDay, {1}));
  EXPECT_EQ(contents.deltas.at(User(1, 1)), Exposures(kDay, {2, 3}));
}

TEST_F(StoreTest, RefusesUsersThatDoNotAscendAndFiltersItDoesNotKnow) {
  const auto store = Open();
  auto writer = *store->BeginCheckpoint({});
  ASSERT_TRUE(writer->AddDelta(User(0, 1), Encoded(Exposures(kDay, {1}))));
  const Status descending = writer->AddDelta(User(0, 0), Encoded(Exposures(kDay, {1})));
  ASSERT_FALSE(descending);
  EXPECT_EQ(descending.error().code, Code::kInvalidArgument);
  const Status unknown = writer->AddDelta(User(0, 9), Encoded(Exposures(kDay, {1})));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, Code::kInvalidArgument);
}

TEST_F(StoreTest, ReportsAnOperandThatIsNotADeltaAsCorrupt) {
  const auto store = Open();
  auto writer = *store->BeginCheckpoint({});
  ASSERT_TRUE(writer->AddDelta(User(1), "not a delta"));
  ASSERT_TRUE(writer->Commit());
  std::string bytes = "left from before";
  const auto read = store->ReadDelta(User(1), bytes);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kCorrupt);
  EXPECT_EQ(bytes, "");
}

// Readers read all the time, so that they come at every point of a checkpoint. No read may miss anything that
// was committed before the read began.
class ReadWhileWritten : public StoreTest, public ::testing::WithParamInterface<uint64_t> {};

TEST_P(ReadWhileWritten, ShowsReadersAllThatWasCommittedBeforeTheyBegan) {
  StoreOptions options = Options();
  options.delta_cache_bytes = GetParam();
  const auto store = Open(options);
  constexpr uint32_t kCheckpoints = 60;
  std::vector<UserRef> users;
  for (uint64_t i = 0; i < 100; ++i) users.push_back(User(i));
  std::atomic<uint32_t> committed{0};
  std::atomic<bool> stop{false};
  const auto reader = [&] {
    std::vector<std::string> values(users.size());
    while (!stop.load()) {
      const uint32_t before = committed.load();
      const auto position = store->ReadPosition();
      ASSERT_TRUE(store->ReadDeltas(users, values));
      const uint32_t after = committed.load() + 1;  // a commit may be visible before the test counts it
      ASSERT_TRUE(position);
      const int64_t offset = *position ? (*position)->next_offset : 0;
      ASSERT_GE(offset, before);
      ASSERT_LE(offset, after);
      for (const std::string& value : values) {
        const size_t items = value.empty() ? 0 : DecodeDelta(value)->segments.front().fingerprints.size();
        ASSERT_GE(items, before);
        ASSERT_LE(items, after);
      }
      ASSERT_TRUE(store->ScanMarks(std::nullopt, 10));
      store->Figures();
    }
  };
  std::vector<std::thread> readers;
  for (int i = 0; i < 2; ++i) readers.emplace_back(reader);
  for (uint32_t i = 1; i <= kCheckpoints; ++i) {
    Checkpoint checkpoint = At(i);
    for (const UserRef& user : users) checkpoint.deltas[user] = Exposures(kDay, {i});
    checkpoint.marks[User(1)] = i % 2 == 1;
    EXPECT_TRUE(Commit(*store, checkpoint));
    committed.store(i);
    store->SetHorizon(0, Horizon::Of(kDay - 40 + static_cast<int32_t>(i % 3)));
    if (i % 20 == 0) {
      EXPECT_TRUE(store->CompactAll());
    }
  }
  stop.store(true);
  for (std::thread& thread : readers) thread.join();
}

// Without a cache of users, and with one that is too small for all: some are evicted.
INSTANTIATE_TEST_SUITE_P(CacheBytes, ReadWhileWritten, ::testing::Values(0, 8 * 1024));

TEST_F(StoreTest, ShowsItsFigures) {
  const auto store = Open();
  Checkpoint checkpoint = At(1);
  for (uint64_t i = 0; i < 1000; ++i) checkpoint.deltas[User(i)] = Exposures(kDay, {1, 2, 3});
  ASSERT_TRUE(Commit(*store, checkpoint));
  ASSERT_TRUE(Commit(*store, At(2)));
  EXPECT_GE(store->Level0Files(), 1u);
  std::string bytes;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(*store->ReadDelta(User(7), bytes));
  const StoreFigures figures = store->Figures();
  EXPECT_GT(figures.bytes, 10'000u);
  EXPECT_EQ(figures.level0_files, store->Level0Files());
  EXPECT_GT(figures.block_cache_hits, 0u);
  EXPECT_GT(figures.block_cache_misses, 0u);
  ASSERT_TRUE(store->CompactAll());
  EXPECT_EQ(store->Level0Files(), 0u);
}

}  // namespace
}  // namespace seen::test
