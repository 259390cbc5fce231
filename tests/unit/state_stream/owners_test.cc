// Owners come and go, each with its own store. Their state topic loses and delays records. The tests check
// what a restore makes of the topic.
#include <gtest/gtest.h>

#include <memory>
#include <random>

#include "rows/position_codec.h"
#include "rows/row_batch.h"
#include "state_stream/partition_stream.h"
#include "state_stream/restore.h"
#include "state_stream/retention.h"
#include "stream_fixture.h"
#include "support/fake_state_topic.h"
#include "support/fakes.h"

namespace seen::test {
namespace {

using sim::VirtualClock;
using Rows = std::map<std::string, std::string, std::less<>>;

StoreDescriptor Descriptor() { return {{"exposures", 0, 1, "murmur2"}, {{"home", 30, kAllItems}}}; }

void ApplyRow(const Row& row, Rows& rows) {
  switch (row.op) {
    case RowOp::kPut:
      rows[std::string(row.key)] = row.value;
      break;
    case RowOp::kMerge: {
      std::string& value = rows[std::string(row.key)];
      value = Folded(value, row.value);
      break;
    }
    case RowOp::kDelete:
      rows.erase(std::string(row.key));
      break;
    case RowOp::kDeleteRange:
      rows.erase(rows.lower_bound(row.key), rows.lower_bound(row.value));
      break;
  }
}

Position PositionIn(const Rows& rows) {
  PositionRows stored;
  for (size_t i = 0; i < stored.size(); ++i) {
    if (const auto row = rows.find(PositionKeys()[i]); row != rows.end()) stored[i] = row->second;
  }
  return DecodePositionRows(stored)->value_or(Position{});
}

/// A store that takes all rows of a checkpoint at once, or none of them.
class MapStore final : public RowSource {
 public:
  std::unique_ptr<CheckpointWriter> Begin(const Position& position) {
    auto writer = std::make_unique<Writer>(*this);
    EXPECT_TRUE(writer->PutPosition(position));
    return writer;
  }
  Result<std::unique_ptr<RowCursor>> ReadRows() override {
    return rows.empty() ? nullptr : std::make_unique<Cursor>(rows);
  }

  Rows rows;

 private:
  class Writer final : public RowWriter {
   public:
    explicit Writer(MapStore& store) : store_(store) {}
    Status Commit() override {
      for (const auto& [op, key, value] : written_) {
        if (op == RowOp::kDeleteRange) ApplyRow({op, key, value}, store_.rows);
      }
      for (const auto& [op, key, value] : written_) {
        if (op != RowOp::kDeleteRange) ApplyRow({op, key, value}, store_.rows);
      }
      return {};
    }

   private:
    Status Write(const Row& row) override {
      written_.emplace_back(row.op, row.key, row.value);
      return {};
    }
    MapStore& store_;
    std::vector<std::tuple<RowOp, std::string, std::string>> written_;
  };
  class Cursor final : public RowCursor {
   public:
    explicit Cursor(Rows rows) : rows_(std::move(rows)), at_(rows_.begin()) {
      rows_[std::string(DescriptorKey())] = EncodeDescriptor(Descriptor());
      at_ = rows_.begin();
    }
    Result<bool> Next(Row& row) override {
      if (at_ == rows_.end()) return false;
      row = {RowOp::kPut, at_->first, at_->second};
      ++at_;
      return true;
    }

   private:
    Rows rows_;
    Rows::const_iterator at_;
  };
};

class MapTarget final : public RestoreTarget {
 public:
  Status Begin() override {
    rows.clear();
    return {};
  }
  Status Continue() override {
    rows = held;
    return {};
  }
  Status AddBase(const RowBatch& batch) override {
    for (size_t i = 0; i < batch.rows(); ++i) {
      EXPECT_EQ(batch.GetRow(i).op, RowOp::kPut);
      EXPECT_TRUE(rows.empty() || std::prev(rows.end())->first < batch.GetRow(i).key);
      ApplyRow(batch.GetRow(i), rows);
    }
    return {};
  }
  Status Apply(const RowFold& changes, const StoredLimits& limits) override {
    return changes.ForEach([&](FilterId filter) { return limits.Of(filter); },
                           [&](const Row& row) {
                             ApplyRow(row, rows);
                             return Status();
                           });
  }
  Rows held;  // the rows before the restore
  Rows rows;
};

// Writes what the input's records [from, to) change.
void WriteUsers(CheckpointWriter& writer, int64_t from, int64_t to) {
  std::map<UserRef, std::vector<int64_t>> users;
  for (int64_t offset = from; offset < to; ++offset)
    users[{FilterId{0}, UserKeyOf(UserName(offset))}].push_back(offset);
  for (const auto& [user, offsets] : users) {
    std::string delta;
    for (const int64_t offset : offsets) delta = Folded(delta, DeltaOf(offset, UserName(offset)));
    ASSERT_TRUE(writer.AddDelta(user, delta));
  }
}

struct Owner {
  Owner(const Rows& state, FakeStateTopic& topic, const VirtualClock& clock) : queue(topic) {
    store.rows = state;
    read_to = position();
    holds_to = PositionIn(state).ReadTo();
    PartitionStream::Options options;
    options.opening = {"seen",   "seen-1", "0.1.0",
                       false,    {},       state.empty() ? kNoOffset : PositionIn(state).ReadTo(),
                       kNoOffset};
    options.descriptor = EncodeDescriptor(Descriptor());
    options.limits = StoredLimits(Descriptor().filters);
    options.record_bytes_max = 200;
    options.changes_bytes_max = 20'000;
    options.base_bytes_per_second = 2'000;
    options.base_after_bytes_min = 2'000;
    stream = std::make_unique<PartitionStream>(options, store, queue, clock);
    const auto end = ReadStreamEnd(topic, 0, topic.end());
    EXPECT_TRUE(end);
    stream->Begin(end->newest_base, end->reaches, topic.end());
  }
  int64_t position() const { return PositionIn(store.rows).next_offset; }

  // Writes the changes of the input's records up to `to`, and some random rows of the owner itself.
  // `held_back`: so many of the records will be read again.
  void Checkpoint(int64_t to, int64_t held_back, std::mt19937_64& random, uint32_t second) {
    Position position;
    position.next_offset = std::max(this->position(), to - held_back);
    position.read_to = to;
    auto writer = stream->Record(store.Begin(position), position);
    ASSERT_TRUE(writer->PutSweep("sweep " + std::to_string(random() % 9)));
    WriteUsers(*writer, read_to, to);
    std::map<UserRef, std::string> marks;
    for (int i = 0; i < kUsers; ++i) marks[{FilterId{0}, UserKeyOf(UserName(i))}] = UserName(i);
    for (const auto& [user, user_id] : marks) {
      if (random() % 3 == 0) {
        ASSERT_TRUE(writer->SetMark({user, user_id}));
      }
      if (random() % 3 == 1) {
        ASSERT_TRUE(writer->ClearMark(user));
      }
    }
    if (random() % 2 == 0) {
      ASSERT_TRUE(writer->DropEndings(second));
    }
    for (const auto& [user, user_id] : marks) {
      if (random() % 3 == 0) {
        ASSERT_TRUE(writer->AddEnding({second + 5, user}));
      }
    }
    if (random() % 20 == 0) return;  // as with a full disk: no row is kept
    ASSERT_TRUE(writer->Commit());
    read_to = to;
    holds_to = std::max(holds_to, to);
  }
  void Step(bool last = false) {
    queue.PollDeliveries([this](const PartitionDelivery& delivery) { stream->OnDelivery(delivery); });
    stream->Step(last);
  }

  MapStore store;
  int64_t read_to = 0;   // by this process; the store's position may be lower
  int64_t holds_to = 0;  // the store has all records below
  FakeStateQueue queue;
  std::unique_ptr<PartitionStream> stream;
  StreamTrimmer trimmer{std::chrono::minutes(5)};
};

std::set<int64_t> OffsetsIn(const Rows& rows) { return HeldRows{rows}.Offsets(); }

// A state of another reader of the input, as a replica's.
Rows StateAt(int64_t position) {
  MapStore store;
  Position at;
  at.next_offset = position;
  const auto writer = store.Begin(at);
  WriteUsers(*writer, 0, position);
  EXPECT_TRUE(writer->Commit());
  return store.rows;
}

struct Restored {
  std::optional<RestoredState> state;
  Rows rows;
};

// `held`: a state that the restore already has. It may be older than the topic.
Restored RestoreFrom(FakeStateTopic& topic, const Rows& held = {}) {
  MapTarget target;
  target.held = held;
  RestoreProgress progress;
  const std::atomic<bool> stop{false};
  StateRestore::Options options{Descriptor().identity, topic.end(), 3'000};
  if (!held.empty()) options.held = {PositionIn(held).ReadTo(), Descriptor()};
  StateRestore restore(options, topic, target, progress, stop);
  auto state = restore.Run();
  EXPECT_TRUE(state) << state.error().message;
  return {state ? *state : std::nullopt, target.rows};
}

/// How often, over all seeds, something happened without which the test would check little.
struct Happened {
  int restored = 0, told = 0, trimmed = 0, removed = 0, continued = 0, held_back = 0;
  uint64_t most_runs = 0;
};

class Owners {
 public:
  Owners(uint64_t seed, Happened& happened) : random_(seed), happened_(happened), holds_back_(seed % 2 == 0) {
    owners_.push_back(std::make_unique<Owner>(Rows(), topic_, clock_));
  }

  void Do() {
    Owner& owner = random_() % 3 != 0 ? *owners_.back() : *owners_[random_() % owners_.size()];
    switch (random_() % 9) {
      case 0:
      case 1:
        owner.Checkpoint(owner.read_to + static_cast<int64_t>(random_() % 20),
                         holds_back_ ? static_cast<int64_t>(random_() % 30) : 0, random_, second_ += 3);
        break;
      case 2:
        owner.queue.Deliver(random_() % 30);
        break;
      case 3:
        if (random_() % 6 == 0) owner.queue.GiveUp(random_() % 10);
        break;
      case 4:
        clock_.Advance(static_cast<int64_t>(random_() % 90'000));
        break;
      case 5:
        if (random_() % 10 == 0) Replace();
        break;
      case 6:
        Trim(owner);
        RemoveCopies();
        break;
      default:
        owner.Step();
    }
    const Restored restored = RestoreFrom(topic_);
    CheckWhatOwnersSay(restored.state ? restored.state->read_to : 0);
    if (!restored.state) return;
    CheckRows(restored);
    ++happened_.restored;
    BringUpToDate();
    happened_.most_runs = std::max(happened_.most_runs, restored.state->runs);
  }

  // Delivers all records of the last owner. Then a restore gives exactly the state of that owner.
  void ToRest() {
    Owner& owner = *owners_.back();
    owner.Checkpoint(owner.read_to + 3, 0, random_, second_);
    for (int i = 0; i < 3'000 && !(i > 80 && owner.stream->IsAtRest()); ++i) {
      clock_.Advance(1'000);
      owner.Step();
      owner.queue.Deliver(30);
    }
    ASSERT_TRUE(owner.stream->IsAtRest());
    const Restored restored = RestoreFrom(topic_);
    ASSERT_TRUE(restored.state);
    Rows expected = owner.store.rows;
    expected[std::string(DescriptorKey())] = EncodeDescriptor(Descriptor());
    EXPECT_EQ(restored.state->read_to, owner.holds_to) << Describe();
    EXPECT_TRUE(restored.rows == expected) << Describe();
    EXPECT_EQ(owner.stream->figures().sent_to, owner.holds_to);
  }

  std::string Describe() const {
    std::string text = "last owner's epoch " + std::to_string(owners_.back()->stream->figures().epoch) + "\n";
    for (size_t i = 0; i < topic_.records.size(); ++i) {
      const auto decoded = DecodeStateRecord(topic_.records[i]);
      text += std::to_string(i);
      if (const auto* const part = std::get_if<ReadStatePart>(&*decoded)) {
        const StatePart& head = part->head;
        text += head.kind == StreamKind::kBase ? " base" : " run";
        for (const int64_t value : {head.epoch, int64_t{head.number}, int64_t{head.part},
                                    int64_t{head.is_last}, head.base_at, head.from, head.to})
          text += " " + std::to_string(value);
      } else {
        text += " opening, base at " + std::to_string(std::get<StateOpening>(*decoded).base_at);
      }
      text += "\n";
    }
    return text + "(epoch, number, part, last, base at, from, to)";
  }

 private:
  // No record below the position is missing. Where no position is held back, no later record is there.
  void CheckRows(const Restored& restored) {
    const std::set<int64_t> has = OffsetsIn(restored.rows);
    const std::set<int64_t> needs = OffsetsBelow(restored.state->read_to);
    ASSERT_TRUE(std::includes(has.begin(), has.end(), needs.begin(), needs.end())) << Describe();
    if (!holds_back_) {
      ASSERT_EQ(has, needs);
    }
    const int64_t goes_on_at = PositionIn(restored.rows).next_offset;
    ASSERT_LE(goes_on_at, restored.state->read_to);
    happened_.held_back += goes_on_at < restored.state->read_to ? 1 : 0;
  }

  // Checks only the owner that opened the stream last. A former owner doesn't know of later records.
  void CheckWhatOwnersSay(int64_t reached) {
    int64_t epoch = kNoOffset;
    for (size_t i = 0; i < topic_.records.size(); ++i) {
      const auto decoded = DecodeStateRecord(topic_.records[i]);
      if (std::holds_alternative<StateOpening>(*decoded)) epoch = static_cast<int64_t>(i);
    }
    for (const auto& owner : owners_) {
      const StateStreamFigures figures = owner->stream->figures();
      if (epoch == kNoOffset || figures.epoch != epoch) continue;
      ASSERT_LE(figures.sent_to, reached) << Describe();
      happened_.told += figures.sent_to > 0 ? 1 : 0;
    }
  }

  // Restores over a copy that an owner left at some time.
  void BringUpToDate() {
    if (random_() % 4 != 0) return;
    const Rows copy =
        random_() % 2 == 0
            ? StateAt(static_cast<int64_t>(random_() % static_cast<uint64_t>(owners_.back()->read_to + 1)))
            : copies_[random_() % copies_.size()];
    const Restored later = RestoreFrom(topic_, copy);
    if (!later.state) return;
    CheckRows(later);
    EXPECT_GT(later.state->read_to, PositionIn(copy).ReadTo());
    happened_.continued += later.state->continued ? 1 : 0;
  }

  // Whoever trims, even a former owner, takes nothing away that a restore needs.
  void Trim(Owner& owner) {
    const auto before = owner.trimmer.Due({{0, owner.stream->figures().base_at}}, clock_.Now());
    if (before.empty()) return;
    const Restored whole = RestoreFrom(topic_);
    happened_.trimmed += before.at(0) > topic_.low ? 1 : 0;
    topic_.low = std::max(topic_.low, before.at(0));
    owner.trimmer.Trimmed(before);
    const Restored rest = RestoreFrom(topic_);
    ASSERT_TRUE(rest.state) << Describe();
    ASSERT_EQ(rest.state->read_to, whole.state->read_to) << Describe();
  }

  // A copy goes only if the topic restores what it holds.
  void RemoveCopies() {
    std::vector<KeptCopy> kept;
    for (size_t i = 1; i < copies_.size(); ++i)
      kept.push_back({static_cast<int32_t>(i), static_cast<int64_t>(i), copies_[i].size()});
    std::set<int32_t> gone;
    RemoveOldest(kept, 20, [&](const KeptCopy& copy) {
      const int64_t position = PositionIn(copies_[static_cast<size_t>(copy.partition)]).ReadTo();
      const auto reaches = RestoreReaches(topic_, 0, topic_.end(), position);
      if (!reaches || !*reaches) return false;
      EXPECT_GE(RestoreFrom(topic_).state->read_to, position) << Describe();
      gone.insert(copy.partition);
      return true;
    });
    for (const int32_t copy : gone) copies_[static_cast<size_t>(copy)].clear();
    happened_.removed += static_cast<int>(gone.size());
    std::erase_if(copies_, [&](const Rows& rows) { return &rows != &copies_.front() && rows.empty(); });
  }

  // The new owner begins with the restored state, with its own older state, or with no state.
  void Replace() {
    const Restored restored = RestoreFrom(topic_);
    const Rows own = owners_[random_() % owners_.size()]->store.rows;
    copies_.push_back(own);
    const bool takes_own = !restored.state || random_() % 3 == 0;
    owners_.push_back(std::make_unique<Owner>(takes_own ? own : restored.rows, topic_, clock_));
    if (owners_.size() > 4) owners_.erase(owners_.begin());
  }

  std::mt19937_64 random_;
  Happened& happened_;
  const bool holds_back_;
  VirtualClock clock_;
  FakeStateTopic topic_;
  std::vector<std::unique_ptr<Owner>> owners_;
  uint32_t second_ = 1000;
  std::vector<Rows> copies_{1};
};

TEST(Owners, WhatIsRestoredIsNeverMoreOrLessThanItsPositionSays) {
  Happened happened;
  for (uint64_t seed = 150; seed < 250; ++seed) {
    Owners owners(seed, happened);
    for (int i = 0; i < 300; ++i) {
      owners.Do();
      if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
    }
    owners.ToRest();
    if (::testing::Test::HasFailure()) FAIL() << "seed " << seed;
  }
  EXPECT_GT(happened.restored, 1000);
  EXPECT_GT(happened.told, 1000);
  EXPECT_GT(happened.trimmed, 50);
  EXPECT_GT(happened.removed, 30);
  EXPECT_GT(happened.continued, 100);
  EXPECT_GT(happened.held_back, 1000);
  EXPECT_GT(happened.most_runs, 3u);
}

}  // namespace
}  // namespace seen::test
