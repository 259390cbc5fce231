#pragma once
// Snapshots that must be made again though no event came: served items end, the window moves on at midnight
// (UTC), the rendering was configured anew, an operator asked. It makes users due; what becomes of them is
// PublishFlow's.
//
// Endings stand in the store, a row a user and moment, written with the checkpoint that knows of them, so
// that a restart has nothing to rebuild. In memory is only when the next one comes. The sweep goes through
// the users in the store once a day, in the order of their keys, at a limited rate: those whose set the new
// day's windows cut, or all where they were not swept yesterday, or their filter's rendering has changed. Its
// progress is written with the checkpoints, too. What a checkpoint is told was made due before it collects
// its marks: a crash repeats some of it and leaves out nothing.
//
// Threads: Step from the publisher's, what CheckpointPart has from the checkpoint thread, the rest any.

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "flow/checkpoint_part.h"
#include "flow/filter_policy.h"
#include "flow/publish_flow.h"
#include "flow/rendered_day.h"
#include "flow/status.h"
#include "flow/store_port.h"
#include "flow/sweep_progress.h"

namespace seen {

class Republisher final : public CheckpointPart {
 public:
  /// `filters` in configuration order. `users_per_second`: published by the sweep at most.
  /// `is_new`: the store is, nobody has to be swept.
  Republisher(std::vector<FilterPolicy> filters, const PartitionStore& store, PublishFlow& publish,
              double users_per_second, bool is_new);

  /// A little of what is due. `tails_since`: nothing that isn't in the store is older than that.
  Status Step(Instant now, TimeMs wall, Instant tails_since);

  /// Publisher thread: whether snapshots may be rendered by the windows of `wall`. Where not, a checkpoint is
  /// due first: see flow/rendered_day.h, and swept_stored_ for a clock that went back. A day that turns out
  /// to lie ahead makes a sweep of all users due: their snapshots may lack what still counts.
  Result<bool> MayRender(TimeMs wall, Instant now);
  /// After MayRender, any thread: the second by which a snapshot of `wall` counts served items. If the clock
  /// went back, what ended before stays ended: its endings may be out of the store, so nobody is due again.
  uint32_t ServedSecond(TimeMs wall) const;
  /// Publisher thread: what it allowed is over.
  void Rendered(Instant now) { rendered_day_.Rendered(now); }

  /// Everybody's snapshots, of all filters. While a sweep runs: afterwards.
  void RequestAll() { all_requested_.store(true); }

  /// Its progress. Before the marks are collected: what it says is done was made due before.
  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  /// Endings: the checkpoint's are added, those that are done with dropped.
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override;
  void Failed() override;
  /// Checkpoint thread, for endings that are written beside a checkpoint. Takes those out that are done with:
  /// whatever is rendered from now on counts them as ended.
  void KeepNotDone(std::vector<Ending>& endings) const;
  /// The store has them; ascending.
  void EndingsWritten(std::span<const Ending> endings);
  /// Snapshots wait for a checkpoint.
  bool AwaitsCheckpoint() const {
    return rendered_day_.AwaitsCheckpoint() || awaits_lower_.load(std::memory_order_acquire);
  }
  /// Publisher thread: everybody is looked at, page by page.
  bool IsSweeping() const;
  bool HasChanges() const { return has_changes_.load(std::memory_order_acquire); }

  /// All of whose snapshots are of that day's windows or later, as far as the store knows: those who were
  /// left with nothing on an earlier day have their tombstones.
  Day SweptThrough() const { return {swept_through_.load(std::memory_order_relaxed)}; }
  RepublishStatus GetStatus() const;

 private:
  Status Open(TimeMs wall);
  Status StepEndings(Instant now, TimeMs wall);
  Result<uint32_t> NextEnding(const std::optional<Ending>& after, uint32_t until) const;
  Status StepSweep(Instant now, TimeMs wall);
  void StartSweepIfDue(Instant now, TimeMs wall, Instant tails_since);
  void LookAtPolicies(Instant now) REQUIRES(mutex_);
  void EndSweep() REQUIRES(mutex_);
  void SetSweptThrough(Day done);
  void FollowBack(uint32_t now_s) REQUIRES(mutex_);
  std::optional<size_t> IndexOf(FilterId id) const;
  SweepProgress::Filter* ProgressOf(FilterId id) REQUIRES(mutex_);
  void Changed() { has_changes_.store(true, std::memory_order_release); }

  const std::vector<FilterPolicy> filters_;
  const bool publishes_;
  const PartitionStore& store_;
  PublishFlow& publish_;
  const double users_per_second_;
  const bool is_new_;
  std::atomic<bool> all_requested_{false};
  std::atomic<bool> has_changes_{false};
  std::atomic<bool> awaits_lower_{false};  // snapshots wait until the store holds an earlier day as swept
  std::atomic<int32_t> swept_through_;
  std::atomic<uint64_t> users_made_due_{0};
  std::atomic<uint64_t> endings_due_{0};  // seen so far

  mutable Mutex mutex_;  // never held while the store is read
  struct Rendering {
    uint64_t hash = 0;     // FilterPolicy::RenderingHash
    uint32_t version = 0;  // of the policy that it is of: Step comes by too often to hash it each time
  };
  std::vector<Rendering> renderings_ GUARDED_BY(mutex_);  // of filters_
  Instant rendering_changed_at_ GUARDED_BY(mutex_){};
  bool opened_ GUARDED_BY(mutex_) = false;  // by the publisher's thread or the first checkpoint
  SweepProgress progress_ GUARDED_BY(mutex_);
  bool progress_changed_ GUARDED_BY(mutex_) = false;
  bool progress_collected_ GUARDED_BY(mutex_) = false;
  // The latest day that the store holds, or may hold, as swept or being swept. No snapshot of an earlier day
  // leaves: a process that is killed then would leave what has expired since in it for good.
  Day swept_stored_ GUARDED_BY(mutex_) = kFirstOfDays;
  Day swept_collected_ GUARDED_BY(mutex_) = kFirstOfDays;  // by the checkpoint under way
  std::optional<Ending> endings_after_ GUARDED_BY(mutex_);
  uint64_t endings_round_ GUARDED_BY(mutex_) = 0;    // checkpoints that added some
  uint32_t next_ending_ GUARDED_BY(mutex_) = 0;      // the store is asked again at this second
  uint32_t endings_done_ GUARDED_BY(mutex_) = 0;     // all before it were made due
  uint32_t endings_dropped_ GUARDED_BY(mutex_) = 0;  // and are out of the store

  RenderedDay rendered_day_;

  uint32_t endings_written_ = 0;  // checkpoint thread: those before it are dropped by the one under way

  // Publisher thread.
  Instant endings_at_{};
  Instant swept_at_{};
  double allowance_ = 0;
  std::vector<UserRef> due_;
};

}  // namespace seen
