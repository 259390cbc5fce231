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

void AddLostRange(std::vector<LostRange>& ranges, const LostRange& range) {
  if (ranges.size() == kLostRangesMax) {  // keep the sum right, give up the border between the oldest two
    ranges[1].from = ranges[0].from;
    ranges.erase(ranges.begin());
  }
  ranges.push_back(range);
}

std::unique_ptr<PartitionJournal> JournalOf(const PartitionOptions& options,
                                            const std::optional<Position>& position,
                                            const PartitionStore& store) {
  if (!options.journal) return nullptr;
  PartitionJournal::Options of{
      options.partition, {}, options.future_skew_max, options.tail_bytes_max, options.kinds};
  for (const FilterPolicy& filter : options.filters) of.filters.push_back(filter.id);
  return std::make_unique<PartitionJournal>(*options.journal, std::move(of), position, store);
}
FilterMask SimilarFiltersOf(const PartitionOptions& options) {
  FilterMask filters = 0;
  for (size_t i = 0; i < options.filters.size() && options.groups != nullptr; ++i) {
    if (options.filters[i].similar != Similar::kOff) filters = static_cast<FilterMask>(filters | 1u << i);
  }
  return filters;
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
      similar_(SimilarFiltersOf(options_)),
      publish_(options_.filters, options_.publish_entries_max, reporter),
      republisher_(options_.filters, publish_, options_.sweep_users_per_second, !position),
      decoder_(options_.event_bytes_max, options_.plan),
      block_ids_(std::make_unique<char[]>(kBlockRecords * kIdBytesMax)),
      anchor_(position ? position->anchor : Anchor{}),
      anchor_is_checked_(anchor_.offset < 0),
      last_freeze_(clock.Now()),
      tail_memory_(std::make_shared<TailMemory>(options_.tail_bytes_max)),
      tail_(std::make_shared<Tail>(tail_memory_, similar_)),
      tails_since_ms_(clock.WallNow().value),
      tail_since_ms_(clock.WallNow().value),
      journal_(JournalOf(options_, position, store)),
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
    if (options_.filters[i].window_by == WindowBy::kItemCreatedAt)
      by_creation_ = static_cast<FilterMask>(by_creation_ | 1u << i);
  }
  std::sort(filters_by_id_.begin(), filters_by_id_.end(),
            [&](size_t a, size_t b) { return options_.filters[a].id < options_.filters[b].id; });
  if (options_.unexposed) {
    unexposed_ = std::make_unique<UnexposedFlow>(*options_.unexposed,
                                                 static_cast<FilterIndex>(options_.filters.size()));
    unexposed_log_ = std::make_unique<UnexposedLog>(*options_.unexposed);
  }
  if (position) checkpoint_time_ms_.store(position->partition_time.value);
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
         lost_ranges_changed_.load(std::memory_order_acquire) || publish_.HasMarkChanges() ||
         republisher_.HasChanges() || (unexposed_ && unexposed_->HasChanges()) ||
         // The sweep of a new day waits until the tail of the old one is in the store.
         DayOf({tail_since_ms_}) != DayOf(clock_.WallNow()) || (journal_ && journal_->MustDrop());
}

bool PartitionFlow::CheckpointDue() const {
  if (HasFrozen() || !anchor_is_checked_ || store_.Level0Files() > options_.level0_files_max) return false;
  if (TailIsFull()) return true;
  return clock_.Now() - last_freeze_ >= options_.checkpoint_interval && HasChanges();
}

std::string_view PartitionFlow::HeldBy() const {
  if (dead_letters_full_) return "dead_letters_full";
  if (!TailIsFull()) return {};
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
  frozen->has_served = std::exchange(tail_has_served_, false);
  if (unexposed_) {
    frozen->unexposed = std::move(unexposed_log_);
    unexposed_log_ = std::make_unique<UnexposedLog>(unexposed_->policy());
  }
  frozen->has_erased = std::exchange(tail_has_erased_, false);
  tail_since_ms_ = clock_.WallNow().value;
  frozen->next_since_ms = tail_since_ms_;
  tail_ = std::make_shared<Tail>(tail_memory_, similar_);
  if (journal_) journal_->Freeze();
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

}  // namespace seen
