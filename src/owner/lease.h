#pragma once
// The lease: how long this process may publish a partition. It may as long as no other member of its group
// can own the partition.
//
// The group's coordinator gives a partition to another member only once this one has been silent for a
// session time-out. An offset commit that succeeds proves that this process was a member when it sent the
// commit. So this process owns the partition until that moment plus the session time-out. The lease is a
// second shorter, for the coordinator's own delays and for clocks that run at different rates. Snapshots in
// the producer's queue must not outlive the lease either. The producer gives up on each after `delivery`, so
// none is queued that late. The clock goes on while the machine is suspended (SystemClock reads
// CLOCK_BOOTTIME).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"

namespace seen {

/// Any thread.
class PublishLease {
 public:
  virtual ~PublishLease() = default;
  /// Whether the producer sends a snapshot that is queued at `now`, or gives up on it, before another process
  /// can own the partition.
  virtual bool MayPublish(int32_t partition, Instant now) const = 0;
  /// Whether the lease ended because this process no longer owns the partition, not because time ran out.
  virtual bool IsGivenUp(int32_t /*partition*/) const { return false; }
};

/// The times that follow from a session time-out. The lease and the snapshots' producer both use them.
struct LeaseTimes {
  std::chrono::milliseconds lease;     // from sending a commit that succeeds
  std::chrono::milliseconds delivery;  // the producer gives up on a snapshot that isn't acknowledged by then

  static constexpr LeaseTimes Of(std::chrono::milliseconds session_timeout) {
    // Sessions of less than two seconds are for tests: the lease is half of them.
    const auto lease = std::max(session_timeout - std::chrono::seconds(1), session_timeout / 2);
    return {lease, lease / 2};
  }
};

/// A lease that offset commits renew. Thread-safe.
class CommitLease final : public PublishLease {
 public:
  explicit CommitLease(const LeaseTimes& times) : times_(times) {}

  /// The group accepted a commit of the partition that was sent at `sent`.
  void Committed(int32_t partition, Instant sent) {
    const MutexLock lock(mutex_);
    Held& held = partitions_[partition];
    if (sent > held.ended_at) held.sent_at = std::max(held.sent_at, sent);
  }
  /// This process gave the partition up, or learned at `now` that it no longer owns it. Answers to commits
  /// that were sent before don't renew the lease.
  void Ended(int32_t partition, Instant now) {
    const MutexLock lock(mutex_);
    partitions_[partition] = {Instant::min(), now};
  }

  bool MayPublish(int32_t partition, Instant now) const override {
    const MutexLock lock(mutex_);
    const auto found = partitions_.find(partition);
    if (found == partitions_.end() || found->second.sent_at == Instant::min()) return false;
    return now + times_.delivery < found->second.sent_at + times_.lease;
  }

  bool IsGivenUp(int32_t partition) const override {
    const MutexLock lock(mutex_);
    const auto found = partitions_.find(partition);
    return found == partitions_.end() || found->second.sent_at == Instant::min();
  }

 private:
  struct Held {
    Instant sent_at = Instant::min();   // the latest commit that succeeded; min: none
    Instant ended_at = Instant::min();  // commits sent up to here don't count
  };
  const LeaseTimes times_;
  mutable Mutex mutex_;
  std::map<int32_t, Held> partitions_ GUARDED_BY(mutex_);
};

}  // namespace seen
