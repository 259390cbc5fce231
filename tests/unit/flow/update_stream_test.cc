// What leaves a partition as updates, and what a checkpoint keeps back for it.
#include "flow/update_stream.h"

#include <gtest/gtest.h>

#include <array>
#include <map>
#include <string>
#include <vector>

#include "flow/update_sender.h"
#include "seen/filter_reader.h"
#include "unit/flow/flow_fixture.h"

namespace seen::test {
namespace {
using std::chrono::milliseconds;
using std::chrono::seconds;

struct Sent {
  int64_t generation, from, to, as_of_ms;
  std::vector<std::string> names;
  // "mask kind until_s user" -> fingerprints
  std::map<std::string, std::vector<uint32_t>> additions;
  int part;
};

class UpdateStreamTest : public TimedTest {
 protected:
  UpdateStreamTest() {
    options.filters[0].updates = true;
    options.updates = UpdatePolicy{};
    options.updates->generation_if_none = 7;
  }
  UpdateStream& stream() { return *flow->updates; }
  /// All records that wait; they count as delivered.
  std::vector<Sent> Take(bool deliver = true) {
    std::vector<Sent> taken;
    clock.Advance(20);
    stream().Step(clock.Now(), clock.WallNow());
    while (const auto unsent = stream().NextUnsent()) {
      taken.push_back(Read(unsent->bytes));
      bytes_.emplace_back(unsent->bytes);
      stream().Sent(unsent->number);
      if (deliver) stream().Delivered(unsent->number, offset_++, clock.Now(), clock.WallNow());
      numbers_.push_back(unsent->number);
    }
    return taken;
  }
  static Sent Read(std::string_view bytes) {
    const auto update = client::Update::Parse(bytes);
    EXPECT_TRUE(static_cast<bool>(update)) << update.error().message;
    Sent sent{update->generation(), update->from(), update->to(), update->as_of_ms(), {}, {}, update->part()};
    for (size_t i = 0; i < update->filter_count(); ++i) sent.names.emplace_back(update->filter(i));
    update->ForEachSection([&](const client::UpdateSection& section) {
      section.ForEach([&](const client::UpdateEntry& entry) {
        const std::string key = std::to_string(section.mask()) + ' ' +
                                std::to_string(static_cast<int>(section.kind())) + ' ' +
                                std::to_string(section.until_s()) + ' ' + std::to_string(entry.user);
        for (uint32_t i = 0; i < entry.count; ++i)
          sent.additions[key].push_back(static_cast<uint32_t>(entry[i]));
      });
    });
    return sent;
  }
  static std::string KeyOf(const std::string& user, int mask = 1, uint32_t until_s = 0) {
    return std::to_string(mask) + " 0 " + std::to_string(until_s) + ' ' + std::to_string(UpdateUserOf(user));
  }
  static std::vector<uint32_t> Prints(std::initializer_list<std::string_view> items) {
    std::vector<uint32_t> prints;
    for (const std::string_view item : items) prints.push_back(FingerprintOf(item).value);
    return prints;
  }
  int64_t Now() const { return clock.WallNow().value; }
  /// An event at this offset with so many near items.
  void AddEvent(int64_t offset, size_t near) {
    UpdateStream::Batch batch(stream(), Anchor{}, clock.Now(), false);
    batch.Add(1, AdditionKind::kSimilar, 0, "u2", std::vector<Fingerprint>(near), offset);
    batch.Taken(offset, clock.WallNow());
    flow->state.SetNextOffset(offset + 1);
    log.resize(static_cast<size_t>(offset) + 1);
  }
  /// What a reader knows of the records taken so far, without this one.
  std::optional<int64_t> ReaderKnowsWithout(size_t lost) const {
    client::FilterReader reader("home", {0});
    const std::string beat =
        R"({"version":1,"partition":0,"partition_time_ms":1,"next_offset":9,"lag_messages":0,)"
        R"("unpublished_users":0,"heartbeat_ms":1,"generation":7,"published_to":0,)"
        R"("snapshots_to":{"home":0}})";
    EXPECT_FALSE(reader.TakeBeat("0", beat));
    reader.SnapshotsEnd(0, 0);
    for (size_t i = 0; i < bytes_.size(); ++i) {
      const bool refused = i != lost && reader.TakeUpdate(bytes_[i]).has_value();
      EXPECT_FALSE(refused);
    }
    return reader.CompleteTo(0);
  }
  std::vector<uint32_t> numbers_;
  std::vector<std::string> bytes_;
  int64_t offset_ = 0;
};

TEST_F(UpdateStreamTest, ARecordHasWhatIsNewAndTheRangeOfItsEvents) {
  Open();
  Send(Event("exposed", "i1", Now()));
  Send(Event("exposed", "i2", Now()));
  Send(Event("exposed", "i3", Now(), "u2"));
  flow->state.ConfirmEnd(3, clock.Now());
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].generation, 7);
  EXPECT_EQ(sent[0].from, 0);
  EXPECT_EQ(sent[0].to, 3);
  EXPECT_EQ(sent[0].as_of_ms, Now() - 20);  // the brokers were asked 20 ms ago
  EXPECT_EQ(sent[0].names, std::vector<std::string>{"home"});
  EXPECT_EQ(sent[0].additions, (std::map<std::string, std::vector<uint32_t>>{
                                   {KeyOf("u1"), Prints({"i1", "i2"})}, {KeyOf("u2"), Prints({"i3"})}}));
}

TEST_F(UpdateStreamTest, AQuietPartitionSaysOnceASecondHowFarItHasCome) {
  Open();
  Send(Event("exposed", "i1", Now()));
  EXPECT_EQ(Take().size(), 1u);
  EXPECT_EQ(Take().size(), 0u);
  clock.Advance(1'000);
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].from, 1);
  EXPECT_EQ(sent[0].to, 1);
  EXPECT_TRUE(sent[0].additions.empty());
}

TEST_F(UpdateStreamTest, MasksNameTheFiltersThatTakePart) {
  FilterPolicy other = options.filters[0];
  other.name = "without", other.updates = false;
  FilterPolicy third = options.filters[0];
  third.name = "third";
  options.filters = {other, options.filters[0], third};
  for (size_t i = 0; i < 3; ++i) options.filters[i].id = FilterId(i);
  Open();
  Send(Event("exposed", "i1", Now()));
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].names, (std::vector<std::string>{"home", "third"}));
  EXPECT_EQ(sent[0].additions.begin()->first, KeyOf("u1", 3));
}

TEST_F(UpdateStreamTest, ServedItemsSayWhenTheyEnd) {
  options.filters[0].limits.served_width_s = 100;
  Open();
  const int64_t at = Now();
  Send(Event("served", "i1", at));
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  const uint32_t until = options.filters[0].ServedEnd(static_cast<uint32_t>(at / 1000));
  EXPECT_EQ(sent[0].additions.begin()->first, KeyOf("u1", 1, until));
}

TEST_F(UpdateStreamTest, WhatIsTakenBackEndsItsRecord) {
  Open();
  Send(Event("exposed", "i1", Now()));
  Send(Event("removed", "i1", Now()));
  Send(Event("exposed", "i1", Now()));
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].to, 2);
  EXPECT_EQ(sent[1].from, 2);
  EXPECT_EQ(sent[1].to, 3);
  EXPECT_EQ(sent[1].additions.begin()->second, Prints({"i1"}));
}

TEST_F(UpdateStreamTest, AReplayIsNoNewsUnlessItPublishesLive) {
  Open();
  Replay(Event("exposed", "i1", Now()), {ReplayNote::Kind::kRecord, false, "run"});
  Replay(Event("exposed", "i2", Now()), {ReplayNote::Kind::kRecord, true, "live"});
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].to, 2);
  EXPECT_EQ(sent[0].additions.begin()->second, Prints({"i2"}));
}

// Else a crash would leave a gap.
TEST_F(UpdateStreamTest, TheCheckpointsOffsetWaitsForUpdates) {
  Open();
  Send(Event("exposed", "i1", Now()));
  EXPECT_EQ(Take().size(), 1u);
  Send(Event("exposed", "i2", Now()));
  Send(Event("exposed", "i3", Now()));
  EXPECT_EQ(Take(false).size(), 1u);
  Checkpoint();
  EXPECT_EQ(durable.position->next_offset, 1);
  EXPECT_EQ(durable.position->anchor.offset, 0);
  EXPECT_EQ(durable.position->generation, 7);

  // After a crash the same is sent again, in the same generation, and nothing is counted twice.
  options.updates->generation_if_none = 8;
  Open();
  EXPECT_TRUE(Seen("i3"));
  const auto again = Take();
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(again[0].generation, 7);
  EXPECT_EQ(again[0].from, 1);
  EXPECT_EQ(again[0].to, 3);
  Checkpoint();
  EXPECT_EQ(durable.position->next_offset, 3);
}

TEST_F(UpdateStreamTest, RowsThatWaitForAMinuteAreAGap) {
  Open();
  Send(Event("exposed", "i1", Now()));
  EXPECT_EQ(Take(false).size(), 1u);
  clock.Advance(61'000);
  Send(Event("exposed", "i2", Now()));
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].from, 1);
  EXPECT_EQ(stream().GetFigures().gaps, 1u);
  Checkpoint();
  EXPECT_EQ(durable.position->next_offset, 2);
}

TEST_F(UpdateStreamTest, RowsBeyondTheirMemoryAreAGap) {
  options.updates->bytes_max = 1'000;
  Open();
  for (int i = 0; i < 100; ++i) Send(Event("exposed", "i" + std::to_string(i), Now()));
  EXPECT_EQ(Take(false).size(), 0u);
  EXPECT_EQ(stream().GetFigures().outstanding_bytes, 0u);
  EXPECT_GT(stream().GetFigures().gaps, 0u);
  Send(Event("exposed", "i", Now()));
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].from, 100);
}

TEST_F(UpdateStreamTest, APartitionThatIsFarBehindSendsNoRows) {
  options.behind_lag_messages = 10;
  options.updates->refresh_every = milliseconds(10'000);
  Open();
  Send(Event("exposed", "i1", Now()));
  FallBehind();
  Send(Event("exposed", "i2", Now() - 20'000), Now() - 20'000);
  Send(Event("exposed", "i3", Now() - 20'000), Now() - 20'000);
  Send(Event("exposed", "i4", Now()));
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].to, 1);
  EXPECT_EQ(sent[1].from, 3);
  EXPECT_EQ(sent[1].additions.begin()->second, Prints({"i4"}));
  EXPECT_EQ(stream().GetFigures().gaps, 1u);
}

// A record of the topic has at most 256 KiB. The events before a large one keep their own range.
TEST_F(UpdateStreamTest, ALargeEventHasPartsWithNumbers) {
  Open();
  const std::vector<Fingerprint> one(1), many(120'000);  // near items of thousands of shown ones
  {
    UpdateStream::Batch batch(stream(), Anchor{}, clock.Now(), false);
    batch.Add(1, AdditionKind::kSeen, 0, "u1", one, 0);
    batch.Taken(0, clock.WallNow());
    flow->state.SetNextOffset(1);
    batch.Add(1, AdditionKind::kSeen, 0, "u2", one, 1);
    batch.Add(1, AdditionKind::kSimilar, 0, "u2", many, 1);
    batch.Taken(1, clock.WallNow());
    flow->state.SetNextOffset(2);
    batch.Add(1, AdditionKind::kSeen, 0, "u1", one, 2);
    batch.Taken(2, clock.WallNow());
    flow->state.SetNextOffset(3);
    log.resize(3);
  }
  Send(Event("exposed", "i1", Now()));
  const auto sent = Take();
  const std::vector<std::array<int64_t, 3>> expected = {{0, 1, 0}, {1, 1, 0}, {1, 1, 1}, {1, 4, 2}};
  std::vector<std::array<int64_t, 3>> ranges;
  for (const Sent& its : sent) ranges.push_back({its.from, its.to, its.part});
  EXPECT_EQ(ranges, expected);
  EXPECT_EQ(sent[0].additions.size(), 1u);
  size_t all = 0;
  for (const Sent& part : sent) {
    for (const auto& [key, prints] : part.additions) all += prints.size();
  }
  EXPECT_EQ(all, 120'004u);
  Send(Event("exposed", "i2", Now()));
  EXPECT_EQ(Take().back().part, 0);
}

TEST_F(UpdateStreamTest, PartsBeginAtTheirEventAlsoWhereNothingStandsBeforeIt) {
  Open();
  flow->state.SetNextOffset(3);
  AddEvent(3, 70'000);
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 3u);
  EXPECT_EQ(sent[0].from, 0);
  EXPECT_EQ(sent[0].to, 3);
  EXPECT_TRUE(sent[0].additions.empty());
  for (size_t lost = 0; lost < 3; ++lost) EXPECT_EQ(ReaderKnowsWithout(lost), lost == 0 ? 0 : 3) << lost;
}

TEST_F(UpdateStreamTest, ALostPartIsAGapForReaders) {
  Open();
  AddEvent(0, 120'000);
  ASSERT_EQ(Take().size(), 3u);
  for (size_t lost = 0; lost < 3; ++lost) EXPECT_EQ(ReaderKnowsWithout(lost), 0) << lost;
  EXPECT_EQ(ReaderKnowsWithout(3), 1) << "it has them all";
}

TEST_F(UpdateStreamTest, APartThatWaitsForAMinuteIsAGap) {
  Open();
  AddEvent(0, 70'000);
  ASSERT_EQ(Take(false).size(), 2u);
  stream().Delivered(numbers_[1], offset_++, clock.Now(), clock.WallNow());
  clock.Advance(61'000);
  flow->state.SetNextOffset(2);
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].from, 1);
  EXPECT_EQ(stream().GetFigures().gaps, 1u);
  EXPECT_EQ(ReaderKnowsWithout(0), 0);
}

// A record numbers its part in a byte.
TEST_F(UpdateStreamTest, AnEventOfTooManyPartsIsAGap) {
  options.updates->bytes_max = uint64_t{1} << 30;
  Open();
  constexpr size_t kItemsAPart = 3 * 16'384;
  AddEvent(0, 256 * kItemsAPart);
  EXPECT_EQ(stream().GetFigures().gaps, 0u);
  AddEvent(1, 257 * kItemsAPart);
  EXPECT_EQ(stream().GetFigures().gaps, 1u);
  Send(Event("exposed", "i1", Now()));
  stream().Step(clock.Now(), clock.WallNow());
  std::vector<std::array<int64_t, 3>> ranges, expected;
  while (const auto unsent = stream().NextUnsent()) {
    const auto update = client::Update::Parse(unsent->bytes);
    ASSERT_TRUE(update);
    ranges.push_back({update->from(), update->to(), update->part()});
    stream().Delivered(unsent->number, 0, clock.Now(), clock.WallNow());
  }
  for (int part = 0; part < 256; ++part) expected.push_back({0, part < 255 ? 0 : 1, part});
  for (int part = 0; part < 255; ++part) expected.push_back({1, 1, part});
  expected.push_back({2, 3, 0});
  EXPECT_EQ(ranges, expected);
  EXPECT_FALSE(stream().HeldAt().has_value());
}

// A record with several events, while the tail is full in between.
TEST_F(UpdateStreamTest, WhatIsTakenInPiecesHasParts) {
  Open();
  const std::vector<Fingerprint> items(3);
  {
    UpdateStream::Batch batch(stream(), Anchor{}, clock.Now(), false);
    batch.Add(1, AdditionKind::kSeen, 0, "u1", items, 0);
    batch.Taken(0, clock.WallNow());
    flow->state.SetNextOffset(1);
    batch.Add(1, AdditionKind::kSeen, 0, "u2", items, 1);
  }
  const auto first = Take();
  ASSERT_EQ(first.size(), 3u) << "the last one says how fresh all below 1 is";
  EXPECT_EQ(first[0].to, 1);
  EXPECT_EQ(first[0].additions.count(KeyOf("u2")), 0u) << "a snapshot up to 1 doesn't have them";
  EXPECT_EQ(first[1].from, 1);
  EXPECT_EQ(first[1].to, 1);
  EXPECT_EQ(first[1].part, 0);
  {
    UpdateStream::Batch batch(stream(), Anchor{}, clock.Now(), false);
    batch.Add(1, AdditionKind::kSeen, 0, "u3", items, 1);
    batch.Taken(1, clock.WallNow());
    flow->state.SetNextOffset(2);
  }
  const auto rest = Take();
  ASSERT_EQ(rest.size(), 1u);
  EXPECT_EQ(rest[0].from, 1);
  EXPECT_EQ(rest[0].to, 2);
  EXPECT_EQ(rest[0].part, 1);
  EXPECT_EQ(ReaderKnowsWithout(1), 1);
  EXPECT_EQ(ReaderKnowsWithout(4), 2);
}

// Else its other pieces would look like all of it.
TEST_F(UpdateStreamTest, APieceThatIsNotSentIsAGap) {
  options.updates->bytes_max = 1'000;
  Open();
  const auto piece = [&](bool skips, size_t items, int64_t offset, bool is_last) {
    UpdateStream::Batch batch(stream(), Anchor{}, clock.Now(), skips);
    batch.Add(1, AdditionKind::kSeen, 0, "u1", std::vector<Fingerprint>(items), offset);
    if (!is_last) return;
    batch.Taken(offset, clock.WallNow());
    flow->state.SetNextOffset(offset + 1);
  };
  piece(false, 1'000, 0, false);  // beyond the memory
  EXPECT_EQ(Take().size(), 0u);
  piece(false, 1, 0, true);
  const auto beyond_memory = Take();
  ASSERT_EQ(beyond_memory.size(), 1u);
  EXPECT_EQ(beyond_memory[0].from, 1);
  piece(true, 1, 1, false);  // far behind
  piece(false, 1, 1, true);
  const auto behind = Take();
  ASSERT_EQ(behind.size(), 1u);
  EXPECT_EQ(behind[0].from, 2);
  EXPECT_TRUE(behind[0].additions.empty());
}

TEST_F(UpdateStreamTest, WhatTheBrokersGiveBackIsSentAgain) {
  Open();
  Send(Event("exposed", "i1", Now()));
  EXPECT_EQ(Take(false).size(), 1u);
  stream().Delivered(numbers_.back(), -1, clock.Now(), clock.WallNow(), "the broker's reason");
  EXPECT_EQ(stream().GetFigures().problem, "the broker's reason");
  const auto unsent = stream().NextUnsent();
  ASSERT_TRUE(unsent.has_value());
  EXPECT_EQ(Read(unsent->bytes).to, 1);
  EXPECT_EQ(Take().size(), 1u);
  EXPECT_EQ(stream().GetFigures().problem, "");
}

TEST_F(UpdateStreamTest, ARecordThatItsTopicDoesNotTakeForItsSizeIsAGap) {
  Open();
  Send(Event("exposed", "i1", Now()));
  EXPECT_EQ(Take(false).size(), 1u);
  const uint32_t large = numbers_.back();
  Send(Event("exposed", "i2", Now()));
  EXPECT_EQ(Take().size(), 1u);
  for (uint32_t time = 1; time < UpdateStream::kTries; ++time) {
    stream().TooLarge(large);
    const auto again = stream().NextUnsent();
    ASSERT_TRUE(again.has_value()) << "its batch may have been too large";
    EXPECT_EQ(again->number, large);
    stream().Sent(large);
  }
  EXPECT_GT(stream().Outstanding(), 0u);
  stream().TooLarge(large, "as large as that");
  EXPECT_FALSE(stream().NextUnsent().has_value());
  EXPECT_EQ(stream().GetFigures().problem, "as large as that");
  stream().Report(reporter);
  EXPECT_EQ(reporter.gap_cause, "as large as that");
  EXPECT_EQ(stream().Outstanding(), 0u) << "nothing waits for it";
  EXPECT_EQ(stream().GapTo(), 1);
  Send(Event("exposed", "i3", Now()));
  const auto next = Take();
  ASSERT_EQ(next.size(), 1u);
  EXPECT_EQ(next[0].from, 2);
}

TEST_F(UpdateStreamTest, ReadersBeginBeforeWhatIsBeyondPublishedTo) {
  Open();
  Send(Event("exposed", "i1", Now()));
  Take();
  clock.Advance(2'000);
  Send(Event("exposed", "i2", Now()));
  Take();
  EXPECT_EQ(stream().TopicOffsetFor(0), -1);
  EXPECT_EQ(stream().TopicOffsetFor(1), 0);
  EXPECT_EQ(stream().TopicOffsetFor(2), 1);
}

TEST_F(UpdateStreamTest, RowsOfBeforeACrashReachAsFarAsBefore) {
  Open();
  for (const char* item : {"a", "b", "c"}) Send(Event("exposed", item, Now()));
  Take(false);
  Checkpoint();
  ASSERT_EQ(durable.position->next_offset, 0) << "no broker has the updates";
  ASSERT_EQ(durable.position->ReadTo(), 3);
  opened.Take(0);
  OpenFlow(options, 0, 3);  // killed
  opened.Add(partition);
  ASSERT_TRUE(SendNext(Event("exposed", "a", Now()), Now()).has_value());
  Checkpoint();
  EXPECT_EQ(durable.position->ReadTo(), 3) << "although only one of them was read again";
}

TEST_F(UpdateStreamTest, AGroupThatDoesNotOwnTheOutputsKeepsNothing) {
  Open();
  Send(Event("exposed", "i1", Now()));
  stream().Discard();
  EXPECT_FALSE(stream().HeldAt().has_value());
  Send(Event("exposed", "i2", Now()));
  const auto sent = Take();
  ASSERT_EQ(sent.size(), 1u);
  EXPECT_EQ(sent[0].from, 1);
  EXPECT_EQ(stream().GetFigures().gaps, 0u);
}

TEST_F(UpdateStreamTest, PublishedSnapshotsCarryTheGeneration) {
  Open();
  Send(Event("exposed", "i1", Now()));
  Checkpoint();  // the refresh finds marks
  Publish();
  const auto view = SnapshotView::Parse(topic.topic.at({FilterIndex(0), "u1"}));
  ASSERT_TRUE(view.has_value());
  EXPECT_EQ(view->meta().generation, 7);
  std::string user_id, bytes;
  ASSERT_TRUE(flow->reader.RenderUser(FilterIndex(0), UserKeyOf("u1"), {}, user_id, bytes).has_value());
  const auto answer = SnapshotView::Parse(bytes);
  ASSERT_TRUE(answer.has_value());
  EXPECT_EQ(answer->meta().generation, 0);
}

// Each reading takes 3 s, as if the process stood still before it.
class SlowClock final : public Clock {
 public:
  explicit SlowClock(sim::VirtualClock& clock) : clock_(clock) {}
  Instant Now() const override { return clock_.Advance(3'000), clock_.Now(); }
  TimeMs WallNow() const override { return clock_.Advance(3'000), clock_.WallNow(); }

 private:
  sim::VirtualClock& clock_;
};

class KeepingSink final : public PartitionSink {
 public:
  bool TrySend(int32_t, std::string_view record, uint64_t) override {
    return records.emplace_back(record), true;
  }
  void PollDeliveries(const std::function<void(const PartitionDelivery&)>&) override {}
  std::vector<std::string> records;
};

TEST_F(UpdateStreamTest, APauseBetweenTheClocksMakesRecordsOlderAndNeverNewer) {
  Open();
  const int64_t asked_ms = Now();
  flow->state.ConfirmEnd(0, clock.Now());
  const SlowClock slow(clock);
  KeepingSink sink;
  UpdateSender(opened, sink, nullptr, slow).Step();
  ASSERT_EQ(sink.records.size(), 1u);
  EXPECT_LE(Read(sink.records[0]).as_of_ms, asked_ms);
  EXPECT_GT(Read(sink.records[0]).as_of_ms, 0);
}

TEST_F(UpdateStreamTest, RecordsOfOtherWritersBetweenItsOwnAreCounted) {
  Open();
  const auto send = [&] {
    Send(Event("exposed", "a" + std::to_string(offset_), kNow));
    Take();
  };
  offset_ = 5;  // of a former owner
  send();
  send();
  EXPECT_EQ(stream().GetFigures().foreign_records, 0u);
  offset_ += 2;
  send();
  EXPECT_EQ(stream().GetFigures().foreign_records, 2u);
  clock.Advance(10'000);  // another owner may have written meanwhile
  offset_ += 3;
  send();
  EXPECT_EQ(stream().GetFigures().foreign_records, 2u);
  Send(Event("exposed", "given back", kNow));
  Take(false);
  stream().Delivered(numbers_.back(), -1, clock.Now(), clock.WallNow());
  ++offset_;  // but the broker has it
  stream().Delivered(numbers_.back(), offset_++, clock.Now(), clock.WallNow());
  send();
  EXPECT_EQ(stream().GetFigures().foreign_records, 2u);

  stream().Report(reporter);
  stream().Report(reporter);
  EXPECT_EQ(reporter.foreign_updates, 2u);
}

TEST_F(UpdateStreamTest, RecordsThatWereDroppedBeforeTheBrokersSaidSoAreItsOwn) {
  Open();
  Send(Event("exposed", "first", kNow));
  Take();
  Send(Event("exposed", "dropped", kNow));
  Take(false);
  for (int i = 0; i < 70; ++i) {  // a step a second: nobody else may write meanwhile
    clock.Advance(1'000);
    stream().Step(clock.Now(), clock.WallNow());
  }
  EXPECT_EQ(stream().GetFigures().gaps, 1u);
  stream().Delivered(numbers_.back(), offset_++, clock.Now(), clock.WallNow());
  Send(Event("exposed", "next", kNow));
  Take();
  EXPECT_EQ(stream().GetFigures().foreign_records, 0u);
}

TEST_F(UpdateStreamTest, RecordsThatHoldNothingLeaveNoGapAndHoldNothingBack) {
  Open();
  Send(Event("exposed", "first", kNow));
  Take();
  for (int i = 0; i < 70; ++i) {
    clock.Advance(1'000);
    stream().Step(clock.Now(), clock.WallNow());
    EXPECT_FALSE(stream().HeldAt().has_value());
  }
  EXPECT_GT(stream().Outstanding(), 0u);
  EXPECT_EQ(stream().GetFigures().gaps, 0u);
}

TEST_F(UpdateStreamTest, ATopicThatWasMadeAnewIsAGap) {
  Open();
  for (int i = 0; i < 3; ++i) {
    Send(Event("exposed", "a" + std::to_string(i), kNow));
    Take();
  }
  EXPECT_EQ(stream().GapTo(), -1);
  EXPECT_EQ(stream().TopicOffsetFor(1), 0);
  offset_ = 0;
  Send(Event("exposed", "b", kNow));
  Take();
  EXPECT_EQ(stream().GapTo(), 3) << "readers that begin there wait for the snapshots of what is gone";
  EXPECT_EQ(stream().TopicOffsetFor(1), -1) << "the offset was another topic's";
  EXPECT_EQ(stream().GetFigures().gaps, 1u);
  stream().Report(reporter);
  stream().Report(reporter);
  EXPECT_EQ(reporter.update_gaps, 1u);
  EXPECT_EQ(reporter.gap_cause, "the topic was created again, or lost its end");
}

}  // namespace
}  // namespace seen::test
