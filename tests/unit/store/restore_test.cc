// State leaves one RocksDB as runs and bases. A restore makes another RocksDB from them.
#include "state_stream/restore.h"

#include <random>

#include "state_stream/partition_stream.h"
#include "store/resting_rows.h"
#include "store/rocks_restore.h"
#include "store_fixture.h"
#include "support/fake_state_topic.h"
#include "support/fakes.h"

namespace seen::test {
namespace {

class RestoreTest : public StoreTest {
 protected:
  using Rows = std::map<std::string, std::string>;

  PartitionStream::Options StreamOptions(const RocksPartitionStore& store) {
    PartitionStream::Options options;
    options.partition = 3;
    options.opening = {"seen", "seen-1", "0.1.0", false, {}, kNoOffset, kNoOffset};
    options.descriptor = store.EncodedDescriptor();
    options.limits = StoredLimits(DecodeDescriptor(options.descriptor)->filters);
    options.record_bytes_max = 2000;
    return options;
  }

  // All rows that go through the state topic.
  static Rows RowsOf(RocksPartitionStore& store) {
    Rows rows;
    const auto cursor = store.ReadRows();
    EXPECT_TRUE(cursor && *cursor);
    for (seen::Row row; cursor && *cursor;) {
      const auto next = (*cursor)->Next(row);
      EXPECT_TRUE(next);
      if (!next || !*next) break;
      rows[std::string(row.key)] = row.value;
    }
    return rows;
  }

  void Settle(PartitionStream& stream) {
    for (int i = 0; i < 200; ++i) {
      clock_.Advance(1000);
      stream.Step();
      queue_.Deliver(1000);
      queue_.PollDeliveries([&](const PartitionDelivery& delivery) { stream.OnDelivery(delivery); });
    }
    EXPECT_TRUE(stream.IsAtRest());
  }

  void Checkpoint(RocksPartitionStore& store, PartitionStream& stream, int64_t to) {
    Position position;
    position.next_offset = to;
    position.filters = {{0, {0}, false, 30, LastPublished::kKept}};
    auto begun = store.BeginCheckpoint(position);
    ASSERT_TRUE(begun);
    auto writer = stream.Record(std::move(*begun), position);
    ASSERT_TRUE(writer->PutSweep("sweep to " + std::to_string(to)));
    std::map<UserRef, std::string> users;
    for (uint64_t i = 0; i < 40; ++i) {
      const std::string user_id = "user-" + std::to_string(random_() % 200);
      users[{FilterId{static_cast<size_t>(random_() % 2)}, UserKeyOf(user_id)}] = user_id;
    }
    for (const auto& [user, user_id] : users) {
      const auto item = static_cast<uint32_t>(random_());
      ASSERT_TRUE(writer->AddDelta(user, Encoded(Exposures(kDay, {item}, user_id))));
    }
    for (const auto& [user, user_id] : users) {
      ASSERT_TRUE(random_() % 2 == 0 ? writer->SetMark({user, user_id}) : writer->ClearMark(user));
    }
    const auto second = static_cast<uint32_t>(to);
    ASSERT_TRUE(writer->DropEndings(second));
    for (const auto& [user, user_id] : users) ASSERT_TRUE(writer->AddEnding({second + 100, user}));
    ASSERT_TRUE(writer->DropServed(second));
    ASSERT_TRUE(writer->AddServed({second + 50, UserKeyOf("u"), {7}, to, 0}, "served"));
    ASSERT_TRUE(writer->Commit());
  }

  Result<std::optional<RestoredState>> Restore(RestoreTarget& target) {
    StateRestore restore({Options().identity, topic_.end(), 20'000}, topic_, target, progress_, stop_);
    return restore.Run();
  }

  // Brings the state in the folder up to date. False: there was nothing to do.
  bool BringUpToDate() {
    auto resting = ReadRestingState(folder_.path(), 3);
    EXPECT_TRUE(resting && *resting && (*resting)->read_to);
    if (!resting || !*resting) return false;
    StateRestore::Options options{.identity = Options().identity, .before = topic_.end()};
    options.held = {*(*resting)->read_to, (*resting)->descriptor};
    RocksRestore target(folder_.path(), 3, resources_);
    StateRestore restore(std::move(options), topic_, target, progress_, stop_);
    const auto restored = restore.Run();
    EXPECT_TRUE(restored) << restored.error().message;
    if (!restored || !*restored) return false;
    continued_ = (*restored)->continued;
    EXPECT_TRUE(target.Finish());
    return true;
  }

  // Owns the store from position `from` to `to`, and leaves when everything is sent. Returns the rows.
  Rows Own(int64_t from, int64_t to) {
    auto store = Open(Options());
    const auto known = ReadStreamEnd(topic_, 3, topic_.end());
    EXPECT_TRUE(known);
    auto options = StreamOptions(*store);
    if (from > 0) options.opening.position = from;
    PartitionStream stream(options, *store, queue_, clock_);
    stream.Begin(known->newest_base, known->reaches, topic_.end());
    for (int64_t at = from + 10; at <= to; at += 10) Checkpoint(*store, stream, at);
    Settle(stream);
    return RowsOf(*store);
  }
  // A store that has read to `next_offset`, and that no stream has followed.
  void HoldTo(int64_t next_offset) {
    auto store = Open(Options());
    Position position;
    position.next_offset = next_offset;
    auto begun = store->BeginCheckpoint(position);
    ASSERT_TRUE(begun && (*begun)->Commit());
  }
  std::string Place() const { return StoreDirectory::PartitionPath(folder_.path(), 3); }
  void PutAside() {
    std::filesystem::copy(Place(), folder_.path() + "/aside", std::filesystem::copy_options::recursive);
  }
  void PutBack() {
    std::filesystem::remove_all(Place());
    std::filesystem::rename(folder_.path() + "/aside", Place());
  }

  bool continued_ = false;
  std::mt19937_64 random_{7};
  sim::VirtualClock clock_;
  FakeStateTopic topic_;
  FakeStateQueue queue_{topic_, 10'000};
  RestoreProgress progress_;
  std::atomic<bool> stop_{false};
};

TEST_F(RestoreTest, AStoreThatWasLostIsTheSameAgain) {
  auto store = Open(Options());
  auto stream = std::make_unique<PartitionStream>(StreamOptions(*store), *store, queue_, clock_);
  stream->Begin(kNoOffset, kNoOffset, 0);
  for (int64_t to = 10; to < 400; to += 10) {
    Checkpoint(*store, *stream, to);
    if (to % 70 == 0) Settle(*stream);
  }
  Settle(*stream);
  EXPECT_GE(stream->figures().bases, 1u);
  EXPECT_GE(stream->figures().runs, 3u);
  const Rows expected = RowsOf(*store);
  EXPECT_GT(expected.size(), 300u);
  stream.reset();
  store.reset();
  std::filesystem::remove_all(StoreDirectory::PartitionPath(folder_.path(), 3));

  RocksRestore target(folder_.path(), 3, resources_);
  const auto restored = Restore(target);
  ASSERT_TRUE(restored) << restored.error().message;
  ASSERT_TRUE(*restored);
  EXPECT_EQ((*restored)->read_to, 390);
  EXPECT_GE((*restored)->runs, 1u);
  const Status finished = target.Finish();
  ASSERT_TRUE(finished) << finished.error().message;
  store = Open(Options());
  EXPECT_EQ(RowsOf(*store), expected);
  const auto position = store->ReadPosition();
  ASSERT_TRUE(position && *position);
  EXPECT_EQ((*position)->next_offset, 390);
  // The state topic doesn't have a store's copy of the published snapshots. Only the snapshot topic has them.
  EXPECT_EQ((*position)->filters[0].last_published, LastPublished::kUnread);
  EXPECT_TRUE(std::filesystem::is_empty(StoreDirectory::IncomingPath(folder_.path())));
}

TEST_F(RestoreTest, WhatWasErasedLeavesTheTopicWithinADay) {
  auto store = Open(Options());
  PartitionStream stream(StreamOptions(*store), *store, queue_, clock_);
  stream.Begin(kNoOffset, kNoOffset, 0);
  Checkpoint(*store, stream, 10);
  Settle(stream);
  const auto first = stream.figures();
  clock_.Advance(25 * 3'600'000);
  Settle(stream);
  EXPECT_EQ(stream.figures().bases, first.bases) << "nothing has changed";
  Checkpoint(*store, stream, 20);
  Settle(stream);
  clock_.Advance(25 * 3'600'000);
  Settle(stream);
  EXPECT_EQ(stream.figures().bases, first.bases + 1);
  EXPECT_GT(stream.figures().base_at, first.base_at);
}

TEST_F(RestoreTest, AnOlderCopyIsBroughtUpToDate) {
  Own(0, 100);
  PutAside();
  const Rows expected = Own(100, 300);
  PutBack();
  ASSERT_TRUE(BringUpToDate());
  EXPECT_TRUE(continued_);
  EXPECT_EQ(RowsOf(*Open(Options())), expected);
  EXPECT_FALSE(BringUpToDate()) << "it has all that the topic has";
  Own(300, 320);  // the restored store works like any other
}

TEST_F(RestoreTest, ACopyThatIsOlderThanTheBaseIsReplaced) {
  HoldTo(5);
  PutAside();
  const Rows expected = Own(5, 300);
  PutBack();
  ASSERT_TRUE(BringUpToDate());
  EXPECT_FALSE(continued_);
  EXPECT_EQ(RowsOf(*Open(Options())), expected);
}

// Groups change often at times. Then owners come and go before they have sent a run.
TEST_F(RestoreTest, AnOldCopyIsReplacedThoughTheLastOwnerHasSentNothingYet) {
  HoldTo(5);
  PutAside();
  const Rows expected = Own(5, 300);
  {
    auto store = Open(Options());
    auto options = StreamOptions(*store);
    options.opening.position = 320;  // the stream leads to 300
    const auto known = ReadStreamEnd(topic_, 3, topic_.end());
    ASSERT_TRUE(known);
    PartitionStream stream(options, *store, queue_, clock_);
    stream.Begin(known->newest_base, known->reaches, topic_.end());
    stream.Step();
    queue_.Deliver(1);
  }
  PutBack();
  ASSERT_TRUE(BringUpToDate());
  EXPECT_EQ(RowsOf(*Open(Options())), expected);
  EXPECT_FALSE(BringUpToDate()) << "the topic leads no further";
}

TEST_F(RestoreTest, ACopyThatKnowsAFilterMoreIsKept) {
  Own(0, 100);
  PutAside();
  Own(100, 200);
  PutBack();
  auto more = Options();
  more.filters.push_back({"added", 7, {}});
  RowsOf(*Open(more));
  EXPECT_FALSE(BringUpToDate()) << "runs of before would take the filter out again";
}

TEST_F(RestoreTest, WhatIsBroughtUpToDateHasNoWholeJournal) {
  auto options = Options();
  options.journal = true;
  {
    auto store = Open(options);
    Position position;
    position.next_offset = 10;
    auto begun = store->BeginCheckpoint(position);
    ASSERT_TRUE(begun && (*begun)->KeepRowsFrom(kDay, kDay) && (*begun)->Commit());
    PartitionStream stream(StreamOptions(*store), *store, queue_, clock_);
    stream.Begin(kNoOffset, kNoOffset, 0);
    Settle(stream);
  }
  PutAside();
  Own(10, 200);
  PutBack();
  ASSERT_TRUE(BringUpToDate());
  EXPECT_TRUE(continued_);
  const auto start = Open(options)->ReadJournalStart();
  ASSERT_TRUE(start);
  EXPECT_FALSE(*start);
}

TEST_F(RestoreTest, WithoutABaseThereIsNothing) {
  RocksRestore target(folder_.path(), 3, resources_);
  auto store = Open(Options());
  PartitionStream stream(StreamOptions(*store), *store, queue_, clock_);
  stream.Begin(kNoOffset, kNoOffset, 0);
  stream.Step();
  queue_.Deliver(1);
  const auto restored = Restore(target);
  ASSERT_TRUE(restored) << restored.error().message;
  EXPECT_FALSE(*restored);
}

TEST_F(RestoreTest, OfAnotherTopicIsRefused) {
  Own(0, 10);
  RocksRestore target(folder_.path(), 5, resources_);
  StoreIdentity other = Options().identity;
  other.partition_count = 16;
  StateRestore restore({other, topic_.end()}, topic_, target, progress_, stop_);
  const auto restored = restore.Run();
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().code, Code::kRefused);
}

TEST_F(RestoreTest, ThatIsStoppedLeavesNothing) {
  Own(0, 10);
  stop_ = true;
  {
    RocksRestore target(folder_.path(), 5, resources_);
    const auto restored = Restore(target);
    ASSERT_FALSE(restored);
    EXPECT_EQ(restored.error().code, Code::kUnavailable);
  }
  EXPECT_FALSE(std::filesystem::exists(StoreDirectory::PartitionPath(folder_.path(), 5)));
  EXPECT_TRUE(std::filesystem::is_empty(StoreDirectory::IncomingPath(folder_.path())));
}

}  // namespace
}  // namespace seen::test
