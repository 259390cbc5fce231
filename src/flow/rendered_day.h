#pragma once
// The latest day (UTC) by whose windows a partition's snapshots are rendered.
//
// Invariant: no snapshot leaves before the store holds its day, or a later one. So whoever opens the store
// knows of every snapshot that a clock rendered too late, whatever was lost with the process. If the stored
// day is after today, the sweep covers all users. This holds for all snapshots alike: of new events, marks,
// endings and sweeps. Answers over HTTP aren't snapshots that stay, and need none of it.
// A store without a position is the one exception: its next owner reads the whole log, and all users are due.
//
// A new day therefore waits for a checkpoint, which is due at once. Each checkpoint writes the day that it is
// some minutes later, so that nobody waits at midnight. If a process dies in these minutes, the next one
// sweeps all users: harmless.
//
// Threads: any; a mutex, taken once a step of the publisher.

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
  /// As the store has it. Before anything else.
  void Opened(std::optional<Day> stored);

  // Publisher thread.
  /// Whether snapshots of that day may leave now. Otherwise a checkpoint is due, and a later call says yes.
  bool MayRender(Day day, Instant now);
  bool IsAfter(Day today) const;
  /// Nothing more is rendered by the day that was last allowed.
  void Rendered(Instant now);
  /// When this process last rendered by another day than that one; the epoch: never.
  Instant LastOfAnother(Day day) const;
  /// All users are due by the windows of that day, or none was rendered by a later one.
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
  // At most what the store holds, whatever becomes of a checkpoint under way.
  Day allowed_ GUARDED_BY(mutex_);
  Day written_ GUARDED_BY(mutex_) = kNone;  // by the checkpoint under way
  Day step_ GUARDED_BY(mutex_) = kNone;     // last allowed
  Instant step_at_ GUARDED_BY(mutex_){};    // it last was
  Instant before_at_ GUARDED_BY(mutex_){};  // another one last was
};

}  // namespace seen
