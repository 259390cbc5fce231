#pragma once
// Makes users due whose snapshots must be re-rendered although no event came: the window moves on at midnight
// (UTC), the configured rendering changed, or an operator asked. Each filter's users are swept once a day, in
// the order of their keys, at a limited rate.
//
// - A sweep makes those users due whose set the new day's windows cut.
// - It makes all users due if they were not swept yesterday, or if their filter's rendering has changed.
// - A sweep of all users also notes when served items end. A filter that had updates has no endings.
// - Checkpoints write the progress. Whatever the written progress says is done became due before the
//   checkpoint collected its marks. So a crash repeats some of it and leaves out nothing.
// - The progress holds `ended` for Endings, and where the snapshot topics ended.
//
// Threads: the publisher calls Step, the checkpoint thread the functions of CheckpointPart, and any thread
// the rest.

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "flow/filter_policy.h"
#include "flow/partition_checkpoint.h"
#include "flow/partition_status.h"
#include "flow/rendered_day.h"
#include "flow/store_port.h"
#include "flow/sweep_progress.h"

namespace seen {

class Endings;
class PublishFlow;

class Sweep final : public CheckpointPart {
 public:
  /// All references outlive this. `filters`: in configuration order. `users_per_second`: the most that the
  /// sweep publishes. `is_new`: the store is new, so nobody has to be swept.
  Sweep(std::vector<FilterPolicy> filters, const PartitionStore& store, PublishFlow& publish,
        Endings& endings, double users_per_second, bool is_new);

  /// Makes some of the users due. `tails_since`: everything that was read before it is in the store.
  Status Step(Instant now, TimeMs wall, Instant tails_since);

  /// Publisher thread: whether snapshots may be rendered by the windows of `wall`. If not, a checkpoint is
  /// due first: see flow/rendered_day.h, and swept_stored_ for a clock that went back. If the stored day
  /// turns out to be in the future, a sweep of all users is due: their snapshots may lack items that still
  /// count.
  Result<bool> MayRender(TimeMs wall, Instant now);
  /// Publisher thread: the rendering that MayRender allowed is over.
  void Rendered(Instant now) { rendered_day_.Rendered(now); }

  /// Makes all users due, in all filters. If a sweep runs, this happens after it.
  void RequestAll();
  /// Any thread. Whether users may be missing in a snapshot topic until a requested sweep has made them due.
  bool OwesAll() const { return owes_all_.load(std::memory_order_acquire); }
  /// Any thread. Whether such a sweep is requested, or runs.
  bool IsRepublishing() const;

  /// Any thread. Where each filter's snapshot topic ended, as the store knows it or NoteTopicEnd said since;
  /// -1: not known. Empty: the store hasn't been read yet.
  std::vector<int64_t> TopicEnds() const;
  /// Any thread. The next checkpoint writes it. An end that is lower than before counts only once all users
  /// are due: until then, a restart must find out again that the topic was cut.
  void NoteTopicEnd(FilterIndex filter, int64_t end);
  /// Any thread. The topic held records below `end`. Called before acknowledgements of them clear marks: else
  /// nobody would miss these snapshots if the topic lost its end after a crash.
  void RaiseTopicEnd(FilterIndex filter, int64_t end);

  /// Collects the progress before the marks are collected: whatever it says is done became due before. Writes
  /// it afterwards, with where the topics ended by then: whoever has no mark was published below.
  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override;
  void Failed() override;
  /// Snapshots wait for a checkpoint.
  bool IsUrgent() const override {
    return rendered_day_.AwaitsCheckpoint() || awaits_lower_.load(std::memory_order_acquire);
  }
  /// Publisher thread: whether a sweep runs, page by page, or all users are requested.
  bool IsSweeping() const;
  bool HasChanges() const override { return has_changes_.load(std::memory_order_acquire); }

  /// As far as the store knows, all snapshots use the windows of this day or a later one. Users who were left
  /// with nothing on this day, or earlier, have their tombstones.
  Day SweptThrough() const { return {swept_through_.load(std::memory_order_relaxed)}; }
  RepublishStatus GetStatus() const;

 private:
  Status Open(TimeMs wall);
  Status StepSweep(Instant now, TimeMs wall);
  void StartSweepIfDue(Instant now, TimeMs wall, Instant tails_since);
  void LookAtPolicies(Instant now) REQUIRES(mutex_);
  void EndSweep() REQUIRES(mutex_);
  void SetSweptThrough(Day done);
  bool IsRequested() const { return requests_.load() != begun_requests_.load(); }
  std::optional<size_t> IndexOf(FilterId id) const;
  SweepProgress::Filter* ProgressOf(FilterId id) REQUIRES(mutex_);
  static void FindEndings(const UserRef& user, std::string_view encoded, uint32_t from_s,
                          std::vector<Ending>& endings);
  void Changed() { has_changes_.store(true, std::memory_order_release); }

  const std::vector<FilterPolicy> filters_;
  const bool publishes_;
  const PartitionStore& store_;
  PublishFlow& publish_;
  Endings& endings_;
  const double users_per_second_;
  const bool is_new_;
  std::atomic<uint64_t> requests_{0}, begun_requests_{0};  // of RequestAll
  std::atomic<bool> owes_all_{true};                       // until the stored progress is known
  std::atomic<bool> has_changes_{false};
  std::atomic<bool> awaits_lower_{false};  // snapshots wait until the store holds an earlier day as swept
  std::atomic<int32_t> swept_through_;
  std::atomic<uint64_t> users_made_due_{0};

  mutable Mutex mutex_;  // never held while the store is read
  struct Rendering {
    uint64_t hash = 0;     // FilterPolicy::RenderingHash
    uint32_t version = 0;  // the policy's version; Step runs too often to hash the policy each time
  };
  std::vector<Rendering> renderings_ GUARDED_BY(mutex_);  // of filters_
  Instant rendering_changed_at_ GUARDED_BY(mutex_){};
  std::pair<uint64_t, Instant> requested_ GUARDED_BY(mutex_){};  // the last request, and when it was noticed
  bool opened_ GUARDED_BY(mutex_) = false;  // by the publisher's thread or the first checkpoint
  SweepProgress progress_ GUARDED_BY(mutex_);
  bool progress_changed_ GUARDED_BY(mutex_) = false;
  SweepProgress collected_ GUARDED_BY(mutex_);  // by the checkpoint under way
  bool changes_collected_ GUARDED_BY(mutex_) = false;
  std::vector<Ending> endings_found_ GUARDED_BY(mutex_);  // of users whom the store doesn't hold as swept
  size_t endings_collected_ GUARDED_BY(mutex_) = 0;       // of these, by the checkpoint under way
  // The latest day that the store holds, or may hold, as swept or being swept. No snapshot of an earlier day
  // is sent. Else, if the process were killed then, items that have expired since would stay in that snapshot
  // for good.
  Day swept_stored_ GUARDED_BY(mutex_) = kFirstOfDays;
  RenderedDay rendered_day_;

  // Publisher thread.
  Instant swept_at_{};
  double allowance_ = 0;
  std::vector<UserRef> due_;
  std::vector<Ending> page_endings_;
};

}  // namespace seen
