#include "flow/partition_flow.h"

#include <algorithm>

#include "base/check.h"
#include "filter/snapshot.h"
#include "model/change.h"
#include "model/record_hash.h"

namespace seen {
namespace {
// Dead letters usually need milliseconds; beyond this the offset is held back instead of the checkpoint.
constexpr std::chrono::seconds kDeadLettersAwaited{5};
constexpr size_t kLostRangesMax = 64;
constexpr size_t kPrefetchedUsers = 8;  // ahead of the one that is written

void AddLostRange(std::vector<LostRange>& ranges, const LostRange& range) {
  if (ranges.size() == kLostRangesMax) {  // keep the sum right, give up the border between the oldest two
    ranges[1].from = ranges[0].from;
    ranges.erase(ranges.begin());
  }
  ranges.push_back(range);
}
}  // namespace

PartitionFlow::PartitionFlow(PartitionOptions options, const std::optional<Position>& position,
                             int64_t start_offset, int64_t high_watermark, PartitionStore& store,
                             DeadLetterSink& dead_letters, Reporter& reporter, const Clock& clock)
    : options_(std::move(options)),
      store_(store),
      dead_letters_(dead_letters),
      reporter_(reporter),
      clock_(clock),
      publish_(options_.filters, options_.publish_entries_max, reporter),
      decoder_(options_.event_bytes_max, options_.plan),
      block_ids_(std::make_unique<char[]>(kBlockRecords * kIdBytesMax)),
      anchor_(position ? position->anchor : Anchor{}),
      anchor_is_checked_(anchor_.offset < 0),
      last_freeze_(clock.Now()),
      tail_memory_(std::make_shared<TailMemory>(options_.tail_bytes_max)),
      tail_(std::make_shared<Tail>(tail_memory_)),
      tails_{tail_, nullptr},
      next_offset_(position ? position->next_offset : start_offset),
      partition_time_ms_(position ? position->partition_time.value : 0),
      high_watermark_(high_watermark),
      checkpoint_offset_(position ? position->next_offset : -1),
      caught_up_at_(high_watermark) {
  Check(!options_.filters.empty() && options_.filters.size() <= kFiltersMax, "1 to 16 filters");
  if (position) lost_ranges_ = position->lost_ranges;
  for (size_t i = 0; i < options_.filters.size(); ++i) {
    filters_by_id_.push_back(i);
    all_filters_ = static_cast<FilterMask>(all_filters_ | 1u << i);
    if (options_.filters[i].snapshot)
      published_filters_ = static_cast<FilterMask>(published_filters_ | 1u << i);
  }
  std::sort(filters_by_id_.begin(), filters_by_id_.end(),
            [&](size_t a, size_t b) { return options_.filters[a].id < options_.filters[b].id; });
  NoteCaughtUp();
}

int64_t PartitionFlow::ReadFrom(int64_t low_watermark) {
  const int64_t next = next_offset();
  if (anchor_.offset < low_watermark) anchor_is_checked_ = true;  // none, or deleted by retention
  return std::max(low_watermark, anchor_is_checked_ ? next : std::min(anchor_.offset, next));
}

Status PartitionFlow::CheckAnchor(const Record& record) {
  anchor_is_checked_ = true;
  if (record.offset != anchor_.offset)
    return {};  // it was compacted away or deleted since: nothing to compare
  if (record.timestamp == anchor_.timestamp && RecordHash(record.key, record.value) == anchor_.hash)
    return {};
  return Fail(
      Code::kRefused,
      "partition " + std::to_string(options_.partition) + ": the record at offset " +
          std::to_string(record.offset) +
          " isn't the one that was read there before: the input topic was recreated, or its log was cut. "
          "Remedy: point input.topic at the right topic, or start once with --rebuild to drop this "
          "partition's state and read the topic from its earliest record");
}

void PartitionFlow::ReachedEnd(int64_t end_offset) {
  anchor_is_checked_ = true;  // its record is gone, or it would have come
  // Transaction markers and compaction leave offsets without records.
  if (end_offset > next_offset_.load(std::memory_order_relaxed)) {
    next_offset_.store(end_offset, std::memory_order_release);
  }
  NoteCaughtUp();
}

void PartitionFlow::SkipLost(int64_t low) {
  const int64_t next = next_offset_.load(std::memory_order_relaxed);
  if (low <= next) return;
  const LostRange range{next, low, clock_.WallNow()};
  next_offset_.store(low, std::memory_order_release);
  anchor_is_checked_ = true;  // it is gone as well
  anchor_ = {};
  {
    const std::lock_guard lock(status_mutex_);
    AddLostRange(lost_ranges_, range);
  }
  lost_ranges_changed_.store(true, std::memory_order_release);
  reporter_.RangeLost(options_.partition, range);
}

void PartitionFlow::NoteCaughtUp() {
  if (next_offset_.load(std::memory_order_relaxed) >= caught_up_at_) {
    caught_up_.store(true, std::memory_order_release);
  }
}

bool PartitionFlow::HasChanges() const {
  return !tail_->Empty() || next_offset() != checkpoint_offset_.load(std::memory_order_acquire) ||
         lost_ranges_changed_.load(std::memory_order_acquire) || publish_.HasMarkChanges();
}

bool PartitionFlow::CheckpointDue() const {
  if (HasFrozen() || !anchor_is_checked_ || store_.Level0Files() > options_.level0_files_max) return false;
  if (tail_->Full()) return true;
  return clock_.Now() - last_freeze_ >= options_.checkpoint_interval && HasChanges();
}

std::string_view PartitionFlow::HeldBy() const {
  if (dead_letters_full_) return "dead_letters_full";
  if (!tail_->Full()) return {};
  if (store_.Level0Files() > options_.level0_files_max) return "level0_files";
  return "tail_full";
}

void PartitionFlow::Freeze() {
  Check(!HasFrozen(), "a tail is still frozen");
  auto frozen = std::make_unique<Frozen>();
  frozen->tail = tail_;
  frozen->position.next_offset = next_offset_.load(std::memory_order_relaxed);
  frozen->position.partition_time = {partition_time_ms_.load(std::memory_order_relaxed)};
  frozen->position.anchor = anchor_;
  frozen->rejected = rejected_;
  frozen->at = clock_.Now();
  lost_ranges_changed_.store(false, std::memory_order_release);
  {
    const std::lock_guard lock(status_mutex_);
    frozen->position.lost_ranges = lost_ranges_;
  }
  tail_ = std::make_shared<Tail>(tail_memory_);
  {
    const std::lock_guard lock(tails_mutex_);
    tails_ = {tail_, frozen->tail};
  }
  last_freeze_ = frozen->at;
  // Acknowledged dead letters needn't be followed any longer.
  const int64_t oldest = dead_letters_.OldestUnacknowledged(options_.partition);
  while (!rejected_.empty() && (oldest < 0 || rejected_.front().offset < oldest)) rejected_.pop_front();
  frozen_ = std::move(frozen);
  has_frozen_.store(true, std::memory_order_release);
}

bool PartitionFlow::AwaitsDeadLetters() const {
  const int64_t oldest = dead_letters_.OldestUnacknowledged(options_.partition);
  return oldest >= 0 && oldest < frozen_->position.next_offset &&
         clock_.Now() - frozen_->at < kDeadLettersAwaited;
}

Result<int64_t> PartitionFlow::WriteFrozen() {
  Check(HasFrozen(), "nothing is frozen");
  const Instant begun = clock_.Now();
  Frozen& frozen = *frozen_;
  Position position = frozen.position;
  const int64_t oldest = dead_letters_.OldestUnacknowledged(options_.partition);
  if (oldest >= 0 && oldest < position.next_offset) {
    // The state may be ahead of the offset: what is read again changes nothing.
    position.next_offset = oldest;
    const auto held = std::find_if(frozen.rejected.begin(), frozen.rejected.end(),
                                   [&](const Anchor& anchor) { return anchor.offset == oldest; });
    position.anchor = held == frozen.rejected.end() ? Anchor{} : *held;
  }
  const TimeMs wall = clock_.WallNow();
  for (const FilterPolicy& filter : options_.filters) {
    store_.SetHorizon(filter.id, filter.ByteHorizon(wall, position.partition_time));
  }

  CheckpointReport report;
  report.next_offset = position.next_offset;
  const auto write = [&]() -> Status {
    auto writer = store_.BeginCheckpoint(position);
    if (!writer) return Fail(writer.error());
    if (Status users = WriteUsers(frozen, **writer, report); !users) return users;
    return (*writer)->Commit();
  };
  const Status written = write();
  if (!written) {
    publish_.MarksFailed();
    reporter_.CheckpointFailed(options_.partition, written.error());
    const std::lock_guard lock(status_mutex_);
    checkpoint_problem_ = written.error().message;
    return Fail(written.error());
  }
  publish_.MarksCommitted();
  {
    // Readers who took the frozen tail keep it; the store has it all now.
    const std::lock_guard lock(tails_mutex_);
    tails_.frozen = nullptr;
  }
  checkpoint_offset_.store(position.next_offset, std::memory_order_release);
  report.duration = std::chrono::duration_cast<std::chrono::milliseconds>(clock_.Now() - begun);
  {
    const std::lock_guard lock(status_mutex_);
    checkpoint_problem_.clear();
    last_checkpoint_at_ = wall;
    last_checkpoint_ = report;
  }
  reporter_.CheckpointWritten(options_.partition, report);
  frozen_.reset();
  has_frozen_.store(false, std::memory_order_release);
  return position.next_offset;
}

Status PartitionFlow::WriteUsers(const Frozen& frozen, CheckpointWriter& writer, CheckpointReport& report) {
  const std::vector<const Tail::UserSlot*> users = frozen.tail->SortedUsers();
  std::vector<Change> changes;
  ChangeEncoder encoder;
  std::string encoded;
  for (const size_t index : filters_by_id_) {
    const FilterPolicy& filter = options_.filters[index];
    for (size_t i = 0; i < users.size(); ++i) {
      if (i + 2 * kPrefetchedUsers < users.size()) __builtin_prefetch(users[i + 2 * kPrefetchedUsers]);
      if (i + kPrefetchedUsers < users.size()) frozen.tail->PrefetchBlock(*users[i + kPrefetchedUsers]);
      const Tail::UserSlot* const user = users[i];
      changes.clear();
      frozen.tail->ReadSlot(*user, static_cast<FilterMask>(1u << index), changes);
      if (changes.empty()) continue;
      encoded.clear();
      encoder.Encode(user->user_id(), changes, filter.limits, encoded);
      if (Status added = writer.AddDelta({filter.id, user->key}, encoded); !added) return added;
      ++report.users;
      report.bytes += encoded.size();
    }
  }
  std::vector<UserRef> deferred;
  for (const size_t index : filters_by_id_) {
    for (const Tail::UserSlot* user : users) {
      if (user->deferred >> index & 1) deferred.push_back({options_.filters[index].id, user->key});
    }
  }
  const MarkChanges marks = publish_.CollectMarks(std::move(deferred));
  report.marks_set = marks.set.size();
  report.marks_cleared = marks.clear.size();
  auto set = marks.set.begin();
  auto clear = marks.clear.begin();
  while (set != marks.set.end() || clear != marks.clear.end()) {
    const bool set_is_next = clear == marks.clear.end() || (set != marks.set.end() && *set < *clear);
    Status written = set_is_next ? writer.SetMark(*set++) : writer.ClearMark(*clear++);
    if (!written) return written;
  }
  return {};
}

}  // namespace seen
