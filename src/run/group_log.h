#pragma once
// A topic as a member of a consumer group reads it. Implemented by kafka/ and by a fake.
//
// Threads. PollControl and Close: one thread, the control thread. PollWorker(w): one thread for each w.
// RebalanceHandler runs on the control thread inside PollControl or Close, WorkerHandler on the worker's.
// Everything else: any thread, unless it says otherwise.

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/log_port.h"

namespace seen {

/// A partition's readable offsets: [low, high). -1: not known yet.
struct Watermarks {
  int64_t low = -1;
  int64_t high = -1;
  friend bool operator==(const Watermarks&, const Watermarks&) = default;
};

/// A partition that this member now owns.
struct Assignment {
  int32_t partition = 0;
  int32_t partition_count = 0;              // of the topic, from metadata
  Watermarks watermarks;                    // queried just now: both known
  std::optional<int64_t> committed_offset;  // the group's; nullopt: none
};

class RebalanceHandler {
 public:
  virtual ~RebalanceHandler() = default;
  /// OnAssigned is to be called for these, one after the other: what takes long may begin for all of them.
  virtual void OnAssigning(std::span<const int32_t> /*partitions*/, int32_t /*partition_count*/) {}
  /// Returns the offset to start from; nullopt: the partition stays assigned to this member, and isn't read.
  /// kUnavailable: the log asks again with back-off (0.1 s doubling to 1 s) while the other partitions go on.
  /// Any other error comes out of PollControl and the partition isn't read.
  virtual Result<std::optional<int64_t>> OnAssigned(const Assignment& assignment) = 0;
  /// The last record of the partition that was read before, if one is known; asked for once OnAssigned has
  /// given an offset.
  virtual Anchor LastRead(int32_t /*partition*/) { return {}; }
  /// Partitions for which OnAssigning was called. No WorkerHandler runs for them from here on. `lost`:
  /// another member may own them already, nothing may be committed.
  virtual void OnRevoked(std::span<const int32_t> partitions, bool lost) = 0;
};

/// Records of one partition, in order. Everything is valid until the handler returns.
struct PartitionBatch {
  int32_t partition = 0;
  std::span<const Record> records;  // may be empty if the end was reached
  int64_t end_offset = -1;          // >= 0: the end of the partition was reached, at this offset
};

class WorkerHandler {
 public:
  virtual ~WorkerHandler() = default;
  /// Bounded time: a rebalance waits for it.
  virtual void OnBatch(const PartitionBatch& batch) = 0;
  /// `wanted_offset` isn't in the log any more (retention) or not yet (recreated, truncated). Nothing of the
  /// partition comes until the handler has called Seek. `now` is fresh; if it couldn't be had the notice
  /// waits for it.
  virtual void OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) = 0;
  /// The record at `offset`, the last one delivered, isn't the one it was: the topic was recreated, or its
  /// log was cut, and it may be longer by now. Otherwise as OnOffsetOutOfRange; by default an offset beyond
  /// the end, which means the same.
  virtual void OnLogReplaced(int32_t partition, int64_t /*offset*/, const Watermarks& now) {
    OnOffsetOutOfRange(partition, now.high + 1, now);
  }
  /// The end of each PollWorker. As in the others, the log holds the worker's lock. So a handler's own locks
  /// are always taken after it, and Seek and StopReading are safe under them.
  virtual void OnPolled(int /*worker*/) {}
};

class GroupLog {
 public:
  virtual ~GroupLog() = default;

  /// Rebalances, errors, retries; waits up to `timeout`. Brokers away isn't an error, see brokers_reachable.
  /// kRefused: another process with this member's id fences it, or what OnAssigned refused. Must be called at
  /// least every few seconds.
  virtual Status PollControl(std::chrono::milliseconds timeout) = 0;
  /// Waits up to `timeout` for the first record, takes what else is there, hands over one batch a partition.
  /// Returns how many records were handed over.
  virtual size_t PollWorker(int worker, std::chrono::milliseconds timeout, WorkerHandler& handler) = 0;
  /// The worker that gets this partition's records.
  virtual int WorkerOf(int32_t partition) const = 0;

  /// The next record delivered is the one at `offset` or the first after it. On the partition's worker thread
  /// (in a handler or between polls). Takes effect with the next PollControl. kNotFound: not assigned (any
  /// more), or not read.
  virtual Status Seek(int32_t partition, int64_t offset) = 0;
  /// The partition stays assigned to this member and isn't read any more. As Seek.
  virtual void StopReading(int32_t partition) = 0;

  /// As seen in the last fetch; no I/O. Unknown values are -1.
  virtual Watermarks CachedWatermarks(int32_t partition) const = 0;
  /// Asks the partition's leader. kUnavailable.
  virtual Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const = 0;
  /// The offset of the first record with a timestamp at or after `time`; the log's end if there is none.
  /// Asks the partition's leader. kUnavailable.
  virtual Result<int64_t> OffsetForTime(int32_t partition, TimeMs time,
                                        std::chrono::milliseconds timeout) const = 0;
  /// What the whole group has committed: all partitions of the topic, -1 where there is nothing yet.
  /// kUnavailable.
  virtual Result<std::map<int32_t, int64_t>> GroupCommitted(std::chrono::milliseconds timeout) const = 0;

  /// Tells the group that everything below each offset is done, in one request. Asynchronous; failures are
  /// counted and logged, nothing here depends on them.
  virtual void Commit(const std::map<int32_t, int64_t>& offsets) = 0;
  void Commit(int32_t partition, int64_t offset) { Commit({{partition, offset}}); }

  /// Revokes (OnRevoked runs), waits for commits under way, disconnects. Workers have stopped polling before;
  /// after it nobody calls anything but the figures below. Idempotent.
  virtual void Close() = 0;

  virtual bool brokers_reachable() const = 0;  // false until the first answer
  virtual bool opening() const = 0;            // OnAssigned has yet to answer for some assigned partition
  /// The topic's partitions that no member of the group has owned for some seconds; ascending. The log makes
  /// the group assign anew on its own. Empty where the brokers can't be asked.
  virtual std::vector<int32_t> unowned_partitions() const { return {}; }
  virtual std::string last_problem() const = 0;  // for people: what keeps it from reading; empty when fine
};

}  // namespace seen
