#include "flow/partition_intake.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "decode/record_events.h"
#include "flow/event_rules.h"

namespace seen {
namespace {
constexpr size_t kMisroutedIdBytes = 16;
constexpr uint64_t kPartitionersLookedAt = 64;  // records of a batch
}  // namespace

PartitionIntake::PartitionIntake(PartitionState& state, const Parts& parts, const Anchor& anchor,
                                 const PartitionStore& store, DeadLetterSink& dead_letters,
                                 Reporter& reporter, const Clock& clock)
    : state_(state),
      options_(state.options()),
      filters_(state.filters()),
      parts_(parts),
      store_(store),
      dead_letters_(dead_letters),
      reporter_(reporter),
      clock_(clock),
      block_(options_, filters_, parts.journal),
      replays_(options_.replay_idle),
      anchor_(anchor),
      anchor_is_checked_(anchor_.offset < 0),
      last_freeze_(clock.Now()),
      tail_memory_(std::make_shared<TailMemory>(options_.tail_bytes_max)),
      tail_(std::make_shared<Tail>(tail_memory_, filters_.similar)),
      tail_since_(state.TailsSince()) {
  if (parts_.unexposed) {
    unexposed_log_ = std::make_unique<UnexposedLog>(parts_.unexposed->policy());
  }
  state_.ShowFirst(tail_);
}

bool PartitionIntake::IsBehind(const Record& newest) const {
  return state_.LagMessages() > options_.behind_lag_messages &&
         clock_.WallNow().value - newest.timestamp.value > options_.behind_age.count();
}

// Readers learn these changes sooner by the snapshots.
bool PartitionIntake::SkipsUpdates(const Record& newest) const {
  return state_.LagMessages() > options_.behind_lag_messages &&
         clock_.WallNow().value - newest.timestamp.value > options_.updates->refresh_every.count();
}

Result<size_t> PartitionIntake::Apply(std::span<const Record> records) {
  if (records.empty()) return size_t{0};
  if (!anchor_is_checked_) {
    if (Status checked = CheckAnchor(records.front()); !checked) return Fail(checked.error());
  }
  BatchReport report;
  report.partition = options_.partition;
  ++batch_number_;
  awaits_schema_ = false;
  now_ = clock_.WallNow();
  time_limit_ = {now_.value + options_.future_skew_max.count()};
  // A replay fills the log, so a lag says nothing about the live events in between.
  is_behind_ = !replays_.holds() && IsBehind(records.back());
  defer_ = is_behind_ || !parts_.publish.HasSpace();
  if (state_.wholeness().awaits_record()) [[unlikely]]
    NoteFirst(records);
  parts_.publish.BeginBatch();
  const uint64_t deferred_before = tail_deferred_;
  if (parts_.updates != nullptr)
    updates_.emplace(*parts_.updates, anchor_, clock_.Now(), SkipsUpdates(records.back()));
  const size_t taken = Take(records, report);
  updates_.reset();
  if (report.records > 0) anchor_ = AnchorOf(records[taken - 1]);
  if (!IsBehind(records.back())) report.live.counts.at_end = report.live.counts.events;
  if (report.records > 0 || !dirty_.empty() || report.live.counts.events > 0 || report.replayed > 0) {
    const int64_t now = clock_.WallNow().value;
    const Instant visible_at = clock_.Now();
    for (const Record& record : records.first(taken)) {
      if (record.replay != nullptr || record.timestamp.value < 0) [[unlikely]]
        continue;
      report.record_to_visible.Add(std::max<int64_t>(0, now - record.timestamp.value));
    }
    for (const TimeMs exposed_at : exposed_) {
      report.live.newest = std::max(report.live.newest, exposed_at);
      report.exposed_to_visible.Add(std::max<int64_t>(0, now - exposed_at.value));
    }
    PassOnDirty(visible_at);
    state_.NoteCaughtUp();
    reporter_.BatchApplied(report);
  }
  parts_.publish.EndBatch(tail_deferred_ - deferred_before);
  dirty_.clear();
  dirty_slots_.clear();
  exposed_.clear();
  return taken;
}

// Returns how many records were taken: fewer than given if the tail or the queue of dead letters is full.
size_t PartitionIntake::Take(std::span<const Record> records, BatchReport& report) {
  size_t taken = 0;
  while (taken < records.size()) {
    const auto rest = records.subspan(taken);
    const size_t read = block_.Read(rest, state_.next_offset(), *tail_, now_);
    const size_t appended = AppendBlock(rest, read, report);
    taken += appended;
    if (appended < read) break;  // the tail is full
    if (block_.rejection()) {
      const Record& record = records[taken];
      if (record.event == 0 && MayHoldSeveral(*block_.rejection())) {
        const Rejection rejection = *block_.rejection();
        const auto several = TakeSeveral(record, report);
        if (several && !*several) break;
        if (!several) {
          if (!Reject(record, rejection, report)) break;
          NoteTaken(record, report);
        }
        ++taken;
        continue;
      }
      if (!Reject(record, *block_.rejection(), report)) break;
      NoteTaken(records[taken++], report);
    }
  }
  return taken;
}

// Takes each event of the record as a record of its own. nullopt: it doesn't hold several. False: not all
// were taken.
std::optional<bool> PartitionIntake::TakeSeveral(const Record& record, BatchReport& report) {
  if (!SplitEvents(record.value, events_)) return std::nullopt;
  if (several_offset_ != record.offset) several_taken_ = 0;
  several_offset_ = record.offset;
  event_records_.clear();
  event_records_.reserve(events_.size());
  for (size_t i = several_taken_; i < events_.size(); ++i) {
    Record& one = event_records_.emplace_back(record);
    one.value = events_[i];
    one.event = static_cast<uint32_t>(i + 1);
    one.more = i + 1 < events_.size();
  }
  several_ = &record;
  const size_t taken = Take(event_records_, report);
  several_ = nullptr;
  several_taken_ += taken;
  if (taken < event_records_.size()) return false;
  several_offset_ = -1;
  return true;
}

// The first record after the missing ones says since when the state is whole.
void PartitionIntake::NoteFirst(std::span<const Record> records) {
  const auto first = std::find_if(records.begin(), records.end(), [&](const Record& record) {
    return record.offset >= state_.next_offset();
  });
  if (first == records.end()) return;
  const bool has_time = first->timestamp.value >= 0 && first->timestamp <= time_limit_;
  state_.wholeness().FirstRecord(has_time ? first->timestamp : now_);
}

void PartitionIntake::PassOnDirty(Instant visible_at) {
  if (!defer_) return parts_.publish.AddDirty(dirty_, visible_at);
  tail_defers_live_ = tail_defers_live_ || !dirty_.empty();
  for (size_t i = 0; i < dirty_.size(); ++i) Defer(*dirty_slots_[i], dirty_[i].filters);
}

void PartitionIntake::Defer(Tail::UserSlot& slot, FilterMask filters) {
  const auto more = static_cast<FilterMask>(filters & ~slot.deferred);
  slot.deferred = static_cast<FilterMask>(slot.deferred | more);
  const FilterMask awaited = more & ~filters_.updates;
  tail_deferred_ += static_cast<uint64_t>(std::popcount(awaited));
  tail_defers_backlog_ = tail_defers_backlog_ || (is_behind_ && awaited != 0);
}

// Returns how many of the `read` records were taken: fewer if the tail is full.
size_t PartitionIntake::AppendBlock(std::span<const Record> records, size_t read, BatchReport& report) {
  const std::span<Exposure> exposures = block_.exposures();
  if (TailIsFull()) return exposures.empty() ? read : exposures.front().record;
  for (const Exposure& exposure : exposures) tail_->PrefetchSlot(exposure.user);
  if (filters_.similar != 0) [[unlikely]] {
    for (const Fingerprint item : block_.items()) options_.groups->PrefetchSimilar(item);
  }
  for (Exposure& exposure : exposures) {
    if (exposure.filters == 0) continue;
    exposure.slot = &tail_->SlotOf(exposure.user, exposure.id(), exposure.id_check);
    tail_->PrefetchBlock(*exposure.slot);
  }
  if (filters_.similar != 0) [[unlikely]]
    block_.FindSimilar(report);
  const uint64_t misrouted_before = report.misrouted;
  for (const Exposure& exposure : exposures) {
    // A record may have several exposures, which are taken together.
    const bool is_first = &exposure == exposures.data() || (&exposure - 1)->record != exposure.record;
    const bool is_last = &exposure == &exposures.back() || (&exposure + 1)->record != exposure.record;
    if (is_first && TailIsFull()) {
      report.live.counts.events += static_cast<uint64_t>(&exposure - exposures.data());
      return NoteSkippedItems(exposure.record, report);
    }
    Append(exposure, records[exposure.record], is_first, report);
    if (is_last) NoteTaken(records[exposure.record], report, exposure.exposed_at);
  }
  report.live.counts.events += exposures.size();
  if (report.misrouted != misrouted_before) [[unlikely]]
    LookAtPartitioners(records, report.live.counts);
  return NoteSkippedItems(read, report);
}

size_t PartitionIntake::NoteSkippedItems(size_t records, BatchReport& report) const {
  const SkippedItems skipped = block_.skipped_items(records);
  report.items_without_id += skipped.without_id;
  report.items_by_condition += skipped.by_condition;
  return records;
}

// Appends what is similar to the items [first_item, end_item) of the block.
void PartitionIntake::AppendSimilar(const Exposure& exposure, uint32_t first_item, uint32_t end_item,
                                    ChangeKind kind, FilterMask filters) {
  if (filters == 0) return;
  const auto second = static_cast<uint32_t>(exposure.exposed_at.value / 1000);
  for (const Fingerprint similar : block_.SimilarTo(first_item, end_item)) {
    tail_->Append(*exposure.slot, {similar, second, kind}, filters);
  }
  if (kind == ChangeKind::kSimilar)
    AddToUpdates(exposure, filters, block_.SimilarTo(first_item, end_item), AdditionKind::kSimilar);
}

// What `filters` count from now on.
void PartitionIntake::AddToUpdates(const Exposure& exposure, FilterMask filters,
                                   std::span<const Fingerprint> items, AdditionKind kind, uint32_t until_s) {
  if (update_offset_ >= 0) updates_->Add(filters, kind, until_s, exposure.id(), items, update_offset_);
}

// Filters may count served items for different times.
void PartitionIntake::AddServedToUpdates(const Exposure& exposure, uint32_t second) {
  const auto items = block_.items().subspan(exposure.items_from, exposure.items_to - exposure.items_from);
  auto left = static_cast<FilterMask>(exposure.filters & filters_.updates);
  while (left != 0) {
    const uint32_t until_s = options_.filters[static_cast<size_t>(std::countr_zero(left))].ServedEnd(second);
    FilterMask same = 0;
    for (size_t i = 0; i < options_.filters.size(); ++i) {
      if ((left >> i & 1) != 0 && options_.filters[i].ServedEnd(second) == until_s)
        same = static_cast<FilterMask>(same | 1u << i);
    }
    AddToUpdates(exposure, same, items, AdditionKind::kSeen, until_s);
    left = static_cast<FilterMask>(left & ~same);
  }
}

void PartitionIntake::Append(const Exposure& exposure, const Record& record, bool is_first,
                             BatchReport& report) {
  if (parts_.unexposed) [[unlikely]]
    NoteUnexposed(exposure, record);
  const bool is_live = record.replay == nullptr;
  update_offset_ = updates_ && (is_live || record.replay->publishes_live) ? record.offset : -1;
  if (!is_live) [[unlikely]] {
    --report.live.counts.events;  // AppendBlock counts all of the block
    report.live.counts.replayed += record.replay->kind == ReplayNote::Kind::kRecord ? 1u : 0u;
    NoteReplay(*record.replay);
    report.replayed += is_first && record.replay->kind == ReplayNote::Kind::kRecord ? 1u : 0u;
  }
  if (exposure.skip != SkipReason::kNone) [[unlikely]] {
    ++report.skipped[static_cast<size_t>(exposure.skip)];
    if (is_live) {
      ++report.live.counts.LostBy(exposure.skip == SkipReason::kNoFilter ? LossCause::kNoFilter
                                  : exposure.skip == SkipReason::kNoId   ? LossCause::kNoId
                                                                         : LossCause::kSkipped);
    }
    return;
  }
  if (is_first) [[likely]]
    NoteMisrouted(exposure, record, report);
  const uint32_t items = exposure.items_to - exposure.items_from;
  if (exposure.filters == 0) return NoteTooOld(exposure, record, report);
  if (is_live) [[likely]]
    report.live.counts.reached = static_cast<FilterMask>(report.live.counts.reached | exposure.filters);
  Tail::UserSlot& slot = *exposure.slot;
  if (slot.has_collision) [[unlikely]] {
    slot.has_collision = false;
    reporter_.UserKeyCollision(options_.partition);
  }
  const auto second = static_cast<uint32_t>(exposure.exposed_at.value / 1000);
  if (exposure.kind == ChangeKind::kExposed) [[likely]] {
    const auto plain = static_cast<FilterMask>(exposure.filters & ~filters_.by_creation);
    for (uint32_t i = exposure.items_from; i < exposure.items_to && plain != 0; ++i) {
      tail_->Append(slot, {block_.items()[i], second, ChangeKind::kExposed}, plain);
    }
    if ((plain & filters_.updates) != 0)
      AddToUpdates(exposure, plain, block_.items().subspan(exposure.items_from, items));
    if ((plain & filters_.similar) != 0) [[unlikely]] {
      AppendSimilar(exposure, exposure.items_from, exposure.items_to, ChangeKind::kSimilar,
                    static_cast<FilterMask>(plain & filters_.similar));
    }
    uint32_t dropped = 0;
    if (plain != exposure.filters) [[unlikely]] {
      LossCounts unwatched;
      dropped = AppendByCreation(exposure, record, is_live && plain == 0 ? report.live.counts : unwatched);
      if (plain != 0) dropped = 0;  // another filter has these items
      report.too_old += dropped;
    }
    report.events += items - dropped;
    if (is_live) [[likely]]
      exposed_.push_back(exposure.exposed_at);
  } else {
    AppendOther(exposure, second, report);
    if (is_live) report.live.newest = std::max(report.live.newest, exposure.exposed_at);
  }
  if (parts_.journal) [[unlikely]]
    parts_.journal->Append(exposure.record, exposure.user);
  auto dirty = static_cast<FilterMask>(filters_.published & exposure.filters);
  // Updates don't tell what was taken back. All else is left to the refresh.
  if (!TakesBack(exposure.kind)) {
    const auto refreshed = static_cast<FilterMask>(dirty & filters_.updates);
    Defer(slot, refreshed);
    dirty = static_cast<FilterMask>(dirty & ~refreshed);
  }
  NoteDirty(slot, dirty, record);
}

// Once per batch is enough, because the records of a run stand together.
void PartitionIntake::NoteReplay(const ReplayNote& note) {
  const bool is_record = note.kind == ReplayNote::Kind::kRecord;
  if (is_record && replay_batch_ == batch_number_ && replay_run_ == note.run) return;
  replays_.Note(note, clock_.Now());
  replay_batch_ = is_record ? batch_number_ : 0;
  replay_run_ = note.run;
  replay_defers_ = replays_.Defers(note);
  HoldMarks();
}

void PartitionIntake::EndIdleReplays() {
  replays_.EndIdle(clock_.Now());
  HoldMarks();
}

// Users that only a history touches are published once, when its replay has ended.
void PartitionIntake::HoldMarks() {
  if (replays_.holds() == holds_marks_) return;
  holds_marks_ = replays_.holds();
  // First a checkpoint marks the history's users in the tail, so that each user is published once.
  history_is_due_ = !holds_marks_ && HasChanges();
  if (!history_is_due_) parts_.publish.HoldMarks(holds_marks_);
}

// `exposed_at`: of an event of the record, for one that has no timestamp.
void PartitionIntake::NoteTaken(const Record& record, BatchReport& report, TimeMs exposed_at) {
  if (record.more) [[unlikely]]
    return;
  if (record.timestamp <= time_limit_) [[likely]] {
    state_.RaisePartitionTime(record.timestamp.value >= 0 ? record.timestamp : std::min(exposed_at, now_));
  } else {
    ++report.timestamps_ahead;
    report.timestamp_ahead_max = std::max(report.timestamp_ahead_max, record.timestamp);
  }
  state_.SetNextOffset(record.offset + 1);
  if (updates_) updates_->Taken(record.offset, record.replay == nullptr ? record.timestamp : TimeMs{-1});
  ++report.records;
  report.bytes += record.key.size() + (several_ ? several_->value.size() : record.value.size());
}

void PartitionIntake::NoteDirty(Tail::UserSlot& slot, FilterMask filters, const Record& record) {
  if (filters == 0) return;
  if (record.replay != nullptr && replay_defers_) [[unlikely]]
    return Defer(slot, filters);
  if (slot.dirty_batch == batch_number_) {
    // The user's earlier records in this batch may have been too old for some of the filters.
    dirty_[slot.dirty_index].filters = static_cast<FilterMask>(dirty_[slot.dirty_index].filters | filters);
    return;
  }
  slot.dirty_batch = batch_number_;
  slot.dirty_index = static_cast<uint32_t>(dirty_.size());
  dirty_slots_.push_back(&slot);
  dirty_.push_back({slot.key, filters, record.timestamp.value >= 0 ? record.timestamp : now_});
}

bool PartitionIntake::Reject(const Record& record, const Rejection& rejection, BatchReport& report) {
  awaits_schema_ = rejection.reason == RejectReason::kSchemaPending;
  if (awaits_schema_) return false;
  dead_letters_full_ = !dead_letters_.TrySend({rejection, options_.partition, &record});
  if (dead_letters_full_) return false;
  rejected_.push_back(AnchorOf(several_ ? *several_ : record));
  ++report.rejected[static_cast<size_t>(rejection.reason)];
  if (record.replay == nullptr) {
    ++report.live.counts.events;
    report.live.Rejected(rejection);
  }
  reporter_.EventRejected(rejection, options_.partition, record.offset);
  return true;
}

// Counts an event that is older than every window.
void PartitionIntake::NoteTooOld(const Exposure& exposure, const Record& record, BatchReport& report) {
  report.too_old += exposure.items_to - exposure.items_from;
  if (record.replay != nullptr) return;
  LiveReport& live = report.live;
  ++live.counts.LostBy(LossCause::kTooOld);
  live.counts.before_1971 += exposure.exposed_at < kBegin1971 ? 1u : 0u;
  live.newest = std::max(live.newest, exposure.exposed_at);
}

// Counts an event in another partition than its user's.
void PartitionIntake::NoteMisrouted(const Exposure& exposure, const Record& record, BatchReport& report) {
  const auto expected =
      static_cast<int32_t>(exposure.id_check % static_cast<uint32_t>(options_.partition_count));
  if (expected == options_.partition) [[likely]]
    return;
  ++report.misrouted;
  ++report.live.counts.LostBy(LossCause::kMisrouted);
  reporter_.EventMisrouted(options_.partition, expected, record.offset);
  state_.NoteMisrouted({record.offset, expected, std::string(exposure.id().substr(0, kMisroutedIdBytes))});
}

// Looks at the records of a block with a misrouted event.
void PartitionIntake::LookAtPartitioners(std::span<const Record> records, LossCounts& live) {
  for (const Exposure& exposure : block_.exposures()) {
    const Record& record = records[exposure.record];
    if (live.partitioners.records >= kPartitionersLookedAt) return;
    if (exposure.skip != SkipReason::kNone) continue;
    live.partitioners.Add(exposure.id(), record.key, options_.partition, options_.partition_count,
                          options_.partitioner);
  }
}

// Returns how many items are too old for all filters whose windows use the time of creation. Old items are
// normal there. Items of 1970 aren't: `live` counts their event as lost.
uint32_t PartitionIntake::AppendByCreation(const Exposure& exposure, const Record& record, LossCounts& live) {
  uint32_t dropped = 0, before_1971 = 0;
  const Day shown = DayOf(exposure.exposed_at);
  const TimeMs written_at =
      HasTime(record.timestamp, now_) ? record.timestamp : WrittenAt(exposure.exposed_at, now_);
  for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
    const Day created = block_.CreatedOf(i, shown);
    FilterMask filters = 0;
    for (size_t at = 0; at < options_.filters.size(); ++at) {
      const bool by_creation = (filters_.by_creation & exposure.filters) >> at & 1;
      if (by_creation && !options_.filters[at].IsTooOld(StartOf(created), written_at)) {
        filters = static_cast<FilterMask>(filters | 1u << at);
      }
    }
    if (filters == 0) {
      ++dropped;
      before_1971 += StartOf(created) < kBegin1971 ? 1u : 0u;
      continue;
    }
    const auto packed =
        static_cast<uint32_t>(created.since_epoch) << 16 | static_cast<uint32_t>(shown.since_epoch);
    tail_->Append(*exposure.slot, {block_.items()[i], packed, ChangeKind::kExposedOfCreation}, filters);
    AddToUpdates(exposure, filters, block_.items().subspan(i, 1));
    AppendSimilar(exposure, i, i + 1, ChangeKind::kSimilar,
                  static_cast<FilterMask>(filters & filters_.similar));
  }
  if (before_1971 == exposure.items_to - exposure.items_from) {
    ++live.LostBy(LossCause::kTooOld);
    ++live.created_before_1971;
  }
  return dropped;
}

void PartitionIntake::AppendOther(const Exposure& exposure, uint32_t second, BatchReport& report) {
  Tail::UserSlot& slot = *exposure.slot;
  const uint32_t items = exposure.items_to - exposure.items_from;
  if (exposure.kind == ChangeKind::kErased) {
    tail_->Append(slot, {{}, second, ChangeKind::kErased}, exposure.filters);
    if (update_offset_ >= 0) updates_->TakesBack(update_offset_);
    tail_has_erased_ = true;
    ++report.erased;
    return;
  }
  for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
    tail_->Append(slot, {block_.items()[i], second, exposure.kind}, exposure.filters);
  }
  if (exposure.kind == ChangeKind::kRemoved) {
    if (update_offset_ >= 0) updates_->TakesBack(update_offset_);
    AppendSimilar(exposure, exposure.items_from, exposure.items_to, ChangeKind::kRemoved,
                  static_cast<FilterMask>(exposure.filters & filters_.similar));
    report.removed += items;
  } else if (exposure.kind == ChangeKind::kServed) {
    tail_has_served_ = true;
    AddServedToUpdates(exposure, second);
    report.served += items;
  } else {
    AddToUpdates(exposure, exposure.filters, block_.items().subspan(exposure.items_from, items));
    report.declared += items;
  }
}

void PartitionIntake::NoteUnexposed(const Exposure& exposure, const Record& record) {
  const int64_t second = exposure.exposed_at.value / 1000;
  if (exposure.kind == ChangeKind::kServed) {
    for (const RecordBlock::Served& served : block_.served()) {
      if (served.item < exposure.items_from || served.item >= exposure.items_to) continue;
      unexposed_log_->AddServed(exposure.user, block_.items()[served.item], second, record.offset,
                                served.place, served.text);
    }
  } else if (exposure.kind == ChangeKind::kExposed) {
    const TimeMs read_at = record.timestamp <= time_limit_
                               ? std::max(state_.partition_time(), record.timestamp)
                               : state_.partition_time();
    const int64_t partition_second = read_at.value / 1000;
    for (uint32_t i = exposure.items_from; i < exposure.items_to; ++i) {
      unexposed_log_->AddExposed(exposure.user, block_.items()[i], second, partition_second);
    }
  } else if (exposure.kind == ChangeKind::kErased) {
    unexposed_log_->AddErased(exposure.user);
  }
}

bool PartitionIntake::TailIsFull() const {
  uint64_t bytes = tail_->bytes();
  if (unexposed_log_) bytes += unexposed_log_->bytes();
  if (parts_.journal) bytes += parts_.journal->bytes();
  return bytes >= options_.tail_bytes_max;
}

int64_t PartitionIntake::ReadFrom(int64_t low_watermark) {
  const int64_t next = state_.next_offset();
  if (anchor_.offset < low_watermark) anchor_is_checked_ = true;  // none, or deleted by retention
  return std::max(low_watermark, anchor_is_checked_ ? next : std::min(anchor_.offset, next));
}

Status PartitionIntake::CheckAnchor(const Record& record) {
  anchor_is_checked_ = true;
  if (record.offset != anchor_.offset)
    return {};  // it was compacted away or deleted since: nothing to compare
  if (AnchorOf(record) == anchor_) return {};
  return Fail(LogWasCut("partition " + std::to_string(options_.partition) + ": the record at offset " +
                            std::to_string(record.offset) + " isn't the one that was read there before",
                        "point input.topic at the right topic, or start once with --rebuild to drop this "
                        "partition's state and read the topic from its earliest record"));
}

void PartitionIntake::ReachedEnd(int64_t end_offset) {
  anchor_is_checked_ = true;  // the anchor's record is gone, else it would have come
  // Transaction markers and compaction leave offsets without records.
  if (end_offset > state_.next_offset()) state_.SetNextOffset(end_offset);
  state_.NoteCaughtUp();
}

void PartitionIntake::SkipLost(int64_t low) {
  const int64_t next = state_.next_offset();
  if (low <= next) return;
  const LostRange range{next, low, clock_.WallNow()};
  state_.SetNextOffset(low);
  anchor_is_checked_ = true;  // the anchor's record is gone as well
  anchor_ = {};
  state_.Lose(range);
  state_.wholeness().Lost(state_.partition_time(), range.from == 0);
  reporter_.RangeLost(options_.partition, range);
}

// By the wall clock as it is now: it may have been wrong when the tail was begun.
bool PartitionIntake::TailIsOfAnEarlierDay() const {
  const TimeMs wall = clock_.WallNow();
  const auto age = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - tail_since_);
  return DayOf({wall.value - age.count()}) != DayOf(wall);
}

bool PartitionIntake::HasChanges() const {
  return !tail_->Empty() || state_.next_offset() != state_.checkpoint_offset() ||
         state_.LostRangesChanged() || state_.wholeness().HasChanges() ||
         parts_.checkpoint.PartsHaveChanges() ||
         // The sweep of a new day waits until the tail of the old one is in the store.
         TailIsOfAnEarlierDay();
}

bool PartitionIntake::CheckpointDue() const {
  if (state_.HasFrozen() || !anchor_is_checked_ || !WantsCheckpoint()) return false;
  return store_.Level0Files() <= options_.level0_files_max;  // the costly question last
}

bool PartitionIntake::WantsCheckpoint() const {
  if (TailIsFull()) return true;
  // Without a checkpoint there is no offset to commit, and without commits nothing is published.
  if (state_.checkpoint_offset() < 0) return true;
  if (parts_.checkpoint.IsUrgent()) return true;
  if (history_is_due_) return true;
  if (BacklogHasEnded() && clock_.Now() - backlog_ended_ >= options_.checkpoint_interval) return true;
  return clock_.Now() - last_freeze_ >= options_.checkpoint_interval && HasChanges();
}

// Its users need not wait for their marks any longer.
bool PartitionIntake::BacklogHasEnded() const {
  return tail_defers_backlog_ && state_.LagMessages() <= options_.behind_lag_messages;
}

HoldReason PartitionIntake::HeldBy() const {
  if (awaits_schema_) return HoldReason::kSchema;
  if (dead_letters_full_) return HoldReason::kDeadLettersFull;
  if (!TailIsFull()) return HoldReason::kNone;
  if (store_.Level0Files() > options_.level0_files_max) return HoldReason::kLevel0Files;
  return HoldReason::kTailFull;
}

void PartitionIntake::Freeze() {
  auto frozen = std::make_unique<FrozenTail>();
  frozen->tail = tail_;
  frozen->position.next_offset = state_.next_offset();
  frozen->position.partition_time = state_.partition_time();
  frozen->position.anchor = anchor_;
  frozen->position.lost_ranges = state_.TakeLostRanges();
  frozen->position.filters = state_.wholeness().Take();
  frozen->position.generation = state_.generation();
  frozen->rejected = rejected_;
  frozen->at = clock_.Now();
  frozen->has_served = std::exchange(tail_has_served_, false);
  frozen->has_erased = std::exchange(tail_has_erased_, false);
  if (parts_.unexposed) {
    frozen->unexposed =
        std::exchange(unexposed_log_, std::make_unique<UnexposedLog>(parts_.unexposed->policy()));
  }
  frozen->deferred = std::exchange(tail_deferred_, 0);
  frozen->defers_live = std::exchange(tail_defers_live_, false);
  if (BacklogHasEnded()) backlog_ended_ = frozen->at;
  tail_defers_backlog_ = false;
  frozen->ends_replays = std::exchange(history_is_due_, false);
  tail_since_ = frozen->at;
  frozen->next_since = tail_since_;
  last_freeze_ = frozen->at;
  tail_ = std::make_shared<Tail>(tail_memory_, filters_.similar);
  if (parts_.journal) parts_.journal->Freeze();
  // Acknowledged dead letters needn't be followed any longer.
  const int64_t oldest = dead_letters_.OldestUnacknowledged(options_.partition);
  while (!rejected_.empty() && (oldest < 0 || rejected_.front().offset < oldest)) rejected_.pop_front();
  state_.Freeze(std::move(frozen), tail_);
}

}  // namespace seen
