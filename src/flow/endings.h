#pragma once
// Makes users due when something of theirs ends by itself: served items stop counting, and no event comes.
//
// Endings are rows in the store, one per user and second.
// - The checkpoint that learns of an ending writes it, so a restart has nothing to rebuild.
// - Memory holds only the time of the next ending.
// - The publisher reads the rows in order. A later checkpoint drops those whose users are due.
// - If the clock goes back, the publisher passes the later endings once more, and ended items stay ended.
//
// Threads: the publisher calls Step and FollowBack, the checkpoint thread the functions of CheckpointPart,
// and any thread the rest.

#include <atomic>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "flow/partition_checkpoint.h"

namespace seen {

class PublishFlow;

class Endings final : public CheckpointPart {
 public:
  /// Both outlive this. `publishes`: some filter publishes snapshots.
  Endings(const PartitionStore& store, PublishFlow& publish, bool publishes)
      : store_(store), publish_(publish), publishes_(publishes) {}

  /// Makes some of the users due whose endings have come.
  Status Step(Instant now, TimeMs wall);
  /// If the clock went back to `wall`, it will pass the later endings once more. From now on no checkpoint
  /// drops them.
  void FollowBack(TimeMs wall);
  /// A snapshot of `wall` counts served items that end after this second. If the clock went back, ended items
  /// stay ended: their endings may be out of the store, so they would make nobody due again.
  uint32_t ServedSecond(TimeMs wall) const;
  /// Endings before this second are out of the store, or a checkpoint under way drops them.
  uint32_t ended() const;
  /// `ended`: as the store has it.
  void Opened(uint32_t ended);

  Status Begin(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  /// Adds the checkpoint's endings, and drops those that are done.
  Status Write(Checkpoint& checkpoint, CheckpointWriter& writer) override;
  void Committed(const Checkpoint& checkpoint) override;
  void Failed() override { has_changes_.store(publishes_, std::memory_order_release); }
  bool HasChanges() const override { return has_changes_.load(std::memory_order_acquire); }

  /// Checkpoint thread, for endings that are written outside of a checkpoint. Removes those that are done:
  /// everything that is rendered from now on counts them as ended.
  void KeepNotDone(std::vector<Ending>& endings) const;
  /// The store has `endings`, which are ascending.
  void Written(std::span<const Ending> endings);
  /// Found so far.
  uint64_t due() const { return due_count_.load(std::memory_order_relaxed); }

 private:
  Result<uint32_t> Next(const std::optional<Ending>& after, uint32_t until) const;
  void FollowBackTo(uint32_t now_s) REQUIRES(mutex_);

  const PartitionStore& store_;
  PublishFlow& publish_;
  const bool publishes_;
  std::atomic<bool> has_changes_{false};
  std::atomic<uint64_t> due_count_{0};

  mutable Mutex mutex_;  // never held while the store is read
  std::optional<Ending> after_ GUARDED_BY(mutex_);
  uint64_t round_ GUARDED_BY(mutex_) = 0;    // how many checkpoints added endings
  uint32_t next_ GUARDED_BY(mutex_) = 0;     // the store is read again at this second
  uint32_t done_ GUARDED_BY(mutex_) = 0;     // endings before it became due
  uint32_t ended_ GUARDED_BY(mutex_) = 0;    // see ended()
  uint32_t dropped_ GUARDED_BY(mutex_) = 0;  // endings before it are out of the store, since the start

  uint32_t written_ = 0;  // checkpoint thread: the checkpoint under way drops endings before it

  // Publisher thread.
  Instant read_at_{};
  std::vector<UserRef> due_;
};

}  // namespace seen
