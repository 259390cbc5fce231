#pragma once
// Until when this process may publish a partition: as long as no other member of its group can own it.
//
// The group's coordinator gives a partition to another member only once this one has been silent for a
// session time-out. An offset commit that succeeds proves that this process was a member when it sent the
// commit. So the partition is this process's until that moment plus the session time-out; a second less is
// for the coordinator's own delays and for clocks that run at different rates. What stands in the producer's
// queue mustn't outlive the lease either: the producer gives up on it after `delivery`, so nothing is queued
// that late. Time is a clock that goes on while the machine is suspended (SystemClock reads CLOCK_BOOTTIME).

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>

#include "base/clock.h"
#include "base/mutex.h"

namespace seen {

/// Any thread.
class PublishLease {
 public:
  virtual ~PublishLease() = default;
  /// Whether what is queued for the partition at `now` goes out, or is given up on, before another process
  /// can own the partition.
  virtual bool MayPublish(int32_t partition, Instant now) const = 0;
  /// Whether it ended because this process no longer owns the partition, not because time ran out.
  virtual bool IsGivenUp(int32_t /*partition*/) const { return false; }
};

/// The times that a session time-out gives: what the lease and the snapshots' producer agree on.
struct LeaseTimes {
  std::chrono::milliseconds lease;     // from sending a commit that succeeds
  std::chrono::milliseconds delivery;  // a snapshot that isn't acknowledged so long is given up on

  static constexpr LeaseTimes Of(std::chrono::milliseconds session_timeout) {
    // Sessions of less than two seconds are for tests: half of them.
    const auto lease = std::max(session_timeout - std::chrono::seconds(1), session_timeout / 2);
    return {lease, lease / 2};
  }
};

/// The lease as offset commits renew it. Thread-safe.
class CommitLease final : public PublishLease {
 public:
  explicit CommitLease(const LeaseTimes& times) : times_(times) {}

  /// The group took a commit of the partition that was sent at `sent`.
  void Committed(int32_t partition, Instant sent) {
    const MutexLock lock(mutex_);
    Held& held = partitions_[partition];
    if (sent > held.ended_at) held.sent_at = std::max(held.sent_at, sent);
  }
  /// This process gave the partition up, or heard at `now` that it no longer owns it. Answers to commits that
  /// were sent before don't bring the lease back.
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
