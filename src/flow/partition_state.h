#pragma once
// What the worker, the checkpoint thread and the readers of one partition share: tails, offsets, times.
//
// Invariants:
// - Each change by a record below next_offset is in the active tail, in the frozen tail or in the store. The
//   worker stores next_offset after its changes: a reader may find more than the offset says, never less.
// - A reader takes the tails before it looks into the store. Changes that move to the store meanwhile are
//   then seen twice, which is harmless, and never missed.
// - At most one tail is frozen. The worker freezes it, and then no longer owns it. The checkpoint thread
//   removes it once the store has it all.
// - checkpoint_offset <= next_offset and CheckpointTime <= partition_time. checkpoint_offset and
//   CheckpointTime are those of the store.
// - Everything that was read before TailsSince is in the store.
// - next_offset never goes back. partition_time never goes back while the process runs.

#include <atomic>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "flow/freshness.h"
#include "flow/partition_options.h"
#include "flow/partition_status.h"
#include "flow/store_port.h"
#include "flow/tail.h"
#include "flow/unexposed_log.h"
#include "flow/wholeness.h"

namespace seen {

/// A tail that takes no more changes, with what a checkpoint needs beside it.
struct FrozenTail {
  std::shared_ptr<Tail> tail;
  Position position;
  std::deque<Anchor> rejected;  // dead letters below position.next_offset that may be unacknowledged
  Instant at{};
  Instant next_since{};  // when the next tail was begun
  bool has_served = false;
  bool has_erased = false;
  bool ends_replays = false;  // once it is stored, users that waited for replays are published
  uint64_t deferred = 0;      // users whose publication was left to a mark, once for each filter
  bool defers_live = false;   // some publication was left to a mark that no replay holds
  std::unique_ptr<UnexposedLog> unexposed;  // nullptr: unexposed items aren't published
};

class PartitionState {
 public:
  struct Tails {
    std::shared_ptr<Tail> active;
    std::shared_ptr<Tail> frozen;  // nullptr: none is
  };

  /// `position`: as stored; nullopt for a new store, which starts at `start_offset`. `high_watermark`: the
  /// end of the log now; the partition is caught up once it has read up to there.
  PartitionState(PartitionOptions options, const std::optional<Position>& position, int64_t start_offset,
                 int64_t high_watermark, Instant now);

  const PartitionOptions& options() const { return options_; }
  const FilterMasks& filters() const { return filters_; }
  /// Of the offsets; 0: this state never wrote updates.
  int64_t generation() const { return generation_; }
  /// The rows held all records below it when the state was opened: Position::read_to.
  int64_t opened_read_to() const { return opened_read_to_; }
  Wholeness& wholeness() { return wholeness_; }
  const Wholeness& wholeness() const { return wholeness_; }

  // Any thread.
  Tails GetTails() const;
  bool HasFrozen() const { return has_frozen_.load(std::memory_order_acquire); }
  int64_t next_offset() const { return next_offset_.load(std::memory_order_acquire); }
  int64_t checkpoint_offset() const { return checkpoint_offset_.load(std::memory_order_acquire); }
  TimeMs partition_time() const { return {partition_time_ms_.load(std::memory_order_acquire)}; }
  TimeMs CheckpointTime() const { return {checkpoint_time_ms_.load(std::memory_order_acquire)}; }
  Instant TailsSince() const {
    return Instant(std::chrono::nanoseconds(tails_since_ns_.load(std::memory_order_acquire)));
  }
  bool CaughtUp() const { return caught_up_.load(std::memory_order_acquire); }
  /// Messages up to the last known end of the log.
  int64_t LagMessages() const;
  AsOf GetAsOf(Instant now) const;
  /// For an answer from this filter.
  AsOf GetAsOf(FilterIndex filter_index, Instant now, TimeMs wall) const;
  /// Negative: not known. The end never goes back.
  void SetWatermarks(int64_t low, int64_t high);
  /// The brokers, asked at `asked_at`, said that the log ends at `end`: see Freshness.
  void ConfirmEnd(int64_t end, Instant asked_at);
  void AcknowledgeLostRanges();
  bool LostRangesChanged() const { return lost_ranges_changed_.load(std::memory_order_acquire); }
  /// Fills in what this class knows.
  void FillStatus(PartitionStatus& status, TimeMs wall) const;

  // Worker.
  void SetNextOffset(int64_t offset) { next_offset_.store(offset, std::memory_order_release); }
  void RaisePartitionTime(TimeMs time) {
    if (time.value > partition_time_ms_.load(std::memory_order_relaxed)) {
      partition_time_ms_.store(time.value, std::memory_order_release);
    }
  }
  void NoteCaughtUp();
  /// Retention deleted the range before it was read.
  void Lose(const LostRange& range);
  /// The ranges that the checkpoint of the tail that is about to be frozen must write.
  std::vector<LostRange> TakeLostRanges();
  void NoteMisrouted(const MisroutedExample& example);
  /// Sets the first tail, before any reader comes.
  void ShowFirst(std::shared_ptr<Tail> tail);
  /// Only while nothing is frozen (checked). `fresh` becomes the active tail.
  void Freeze(std::unique_ptr<FrozenTail> frozen, std::shared_ptr<Tail> fresh);

  // Checkpoint thread, while a tail is frozen.
  FrozenTail& frozen() { return *frozen_; }
  const FrozenTail& frozen() const { return *frozen_; }
  /// The store has all of the frozen tail, and `position`.
  void DropFrozen(const Position& position);
  void NoteCheckpoint(const CheckpointReport& report, TimeMs wall_now);
  void NoteCheckpointProblem(std::string problem);

 private:
  const PartitionOptions options_;
  const FilterMasks filters_;
  const int64_t generation_;
  Wholeness wholeness_;
  const int64_t caught_up_at_;

  const int64_t opened_read_to_;
  std::atomic<int64_t> next_offset_;            // worker writes
  std::atomic<int64_t> partition_time_ms_;      // worker writes
  std::atomic<bool> caught_up_{false};          // worker writes, once
  std::atomic<int64_t> checkpoint_offset_;      // checkpoint thread writes; -1: none yet
  std::atomic<int64_t> checkpoint_time_ms_{0};  // checkpoint thread writes
  std::atomic<int64_t> tails_since_ns_;         // checkpoint thread writes
  std::atomic<int64_t> low_watermark_{-1};      // any thread writes
  std::atomic<int64_t> high_watermark_;         // any thread writes
  Freshness freshness_;
  std::atomic<bool> lost_ranges_changed_{false};

  // has_frozen_ = true hands it from the worker to the checkpoint thread, and false hands it back.
  std::unique_ptr<FrozenTail> frozen_;
  std::atomic<bool> has_frozen_{false};

  mutable Mutex tails_mutex_;
  Tails tails_ GUARDED_BY(tails_mutex_);

  mutable Mutex notes_mutex_;
  std::vector<LostRange> lost_ranges_ GUARDED_BY(notes_mutex_);
  uint64_t misrouted_ GUARDED_BY(notes_mutex_) = 0;
  MisroutedExample misrouted_last_ GUARDED_BY(notes_mutex_);
  std::optional<TimeMs> last_checkpoint_at_ GUARDED_BY(notes_mutex_);
  CheckpointReport last_checkpoint_ GUARDED_BY(notes_mutex_);
  std::string checkpoint_problem_ GUARDED_BY(notes_mutex_);  // empty: the last one was written
};

}  // namespace seen
