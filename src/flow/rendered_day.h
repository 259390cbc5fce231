#pragma once
// The latest day (UTC) by whose windows a partition's snapshots are rendered.
//
// Invariant: no snapshot leaves before the store holds its day, or a later one. So the process that opens the
// store knows whether snapshots were rendered for a day that was too late, whatever was lost with the process
// before. If the stored day is after today, the sweep covers all users. This applies to all snapshots: of new
// events, marks, endings and sweeps. Answers over HTTP don't last, and need none of it. A store without a
// position is the one exception: its next owner reads the whole log, and all users are due.
//
// So a new day waits for a checkpoint, which is due at once. Each checkpoint writes the day that it will be
// in some minutes, so that nobody waits at midnight. If a process dies in these minutes, the next one sweeps
// all users, which is harmless.
//
// Threads: any. A mutex guards it, which the publisher takes only a few times a step.

#include <atomic>
#include <limits>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"
#include "model/day.h"

namespace seen {

class RenderedDay {
 public:
  /// `is_new`: the store has no position.
  explicit RenderedDay(bool is_new);
  /// `stored`: as the store has it. Call it before anything else.
  void Opened(std::optional<Day> stored);

  // Publisher thread.
  /// Whether snapshots of that day may be sent now. If not, a checkpoint is due, and a later call returns
  /// true.
  bool MayRender(Day day, Instant now);
  bool IsAfter(Day today) const;
  /// The rendering by the day that was last allowed is over.
  void Rendered(Instant now);
  /// When this process last rendered by another day than `day`; the epoch: never.
  Instant LastOfAnother(Day day) const;
  /// Lowers the day to `today`: all users are due by the windows of that day, or none was rendered by a later
  /// day.
  void BackTo(Day today);

  // Checkpoint thread. Begin may be called again if the checkpoint fails.
  /// The day that the checkpoint must write.
  Day Begin(TimeMs wall);
  void Committed();

  /// Snapshots wait for a checkpoint.
  bool AwaitsCheckpoint() const { return awaits_checkpoint_.load(std::memory_order_acquire); }

 private:
  static constexpr Day kNone{std::numeric_limits<int32_t>::min()};
  static constexpr Day kAny{std::numeric_limits<int32_t>::max()};

  std::atomic<bool> awaits_checkpoint_{false};
  mutable Mutex mutex_;
  Day rendered_ GUARDED_BY(mutex_) = kNone;  // at most allowed_, or stored by an earlier process
  // At most the day in the store, whether or not a checkpoint under way succeeds.
  Day allowed_ GUARDED_BY(mutex_);
  Day written_ GUARDED_BY(mutex_) = kNone;  // by the checkpoint under way
  Day step_ GUARDED_BY(mutex_) = kNone;     // the day last allowed
  Instant step_at_ GUARDED_BY(mutex_){};    // when that day was last allowed
  Instant before_at_ GUARDED_BY(mutex_){};  // when another day was last allowed
};

}  // namespace seen
