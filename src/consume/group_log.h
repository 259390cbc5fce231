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
  /// OnAssigned will be called for these, one after the other. Slow work may begin for all of them.
  virtual void OnAssigning(std::span<const int32_t> /*partitions*/, int32_t /*partition_count*/) {}
  /// Returns the offset to start from. nullopt: the partition stays assigned to this member, and isn't read.
  /// kUnavailable: the log asks again with back-off (0.1 s doubling to 1 s), while the other partitions go
  /// on. Any other error: PollControl returns it, and the partition isn't read.
  virtual Result<std::optional<int64_t>> OnAssigned(const Assignment& assignment) = 0;
  /// The last record of the partition that was read before, if it is known. The log asks for it once
  /// OnAssigned has returned an offset.
  virtual Anchor LastRead(int32_t /*partition*/) { return {}; }
  /// `partitions`: those for which OnAssigning was called. From here on no WorkerHandler runs for them.
  /// `lost`: another member may own them already, so nothing may be committed.
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
  /// Must end in bounded time: a rebalance waits for it.
  virtual void OnBatch(const PartitionBatch& batch) = 0;
  /// `wanted_offset` isn't in the log any more (retention), or not yet (topic recreated or truncated). No
  /// records of the partition are delivered until the handler calls Seek. `now` is fresh: while the brokers
  /// can't be asked, this call is delayed.
  virtual void OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) = 0;
  /// The record at `offset` was the last one delivered, and another record is there now: the topic was
  /// recreated, or its log was cut. The log may be longer by now. Otherwise as OnOffsetOutOfRange. The
  /// default reports an offset beyond the end, which means the same.
  virtual void OnLogReplaced(int32_t partition, int64_t /*offset*/, const Watermarks& now) {
    OnOffsetOutOfRange(partition, now.high + 1, now);
  }
  /// The end of each PollWorker. As in the other calls, the log holds the worker's lock. So a handler always
  /// takes its own locks after the worker's lock, and Seek and StopReading are safe under them.
  virtual void OnPolled(int /*worker*/) {}
};

class GroupLog {
 public:
  virtual ~GroupLog() = default;

  /// Handles rebalances, errors and retries; waits up to `timeout`. Unreachable brokers are no error, see
  /// brokers_reachable. kRefused: another process with this member's id fences it, or OnAssigned refused.
  /// Must be called at least every few seconds.
  virtual Status PollControl(std::chrono::milliseconds timeout) = 0;
  /// Waits up to `timeout` for the first record, and takes the other records that are there. Hands over one
  /// batch per partition. Returns how many records were handed over.
  virtual size_t PollWorker(int worker, std::chrono::milliseconds timeout, WorkerHandler& handler) = 0;
  /// The worker that gets this partition's records.
  virtual int WorkerOf(int32_t partition) const = 0;

  /// The next record delivered is the one at `offset` or the first after it. On the partition's worker thread
  /// (in a handler or between polls). Takes effect with the next PollControl. kNotFound: the partition isn't
  /// assigned (any more).
  virtual Status Seek(int32_t partition, int64_t offset) = 0;
  /// The partition stays assigned to this member and isn't read until Seek. Threads and effect: as Seek.
  virtual void StopReading(int32_t partition) = 0;

  /// The values of the last fetch; no I/O. Unknown values are -1.
  virtual Watermarks CachedWatermarks(int32_t partition) const = 0;
  /// Asks the partition's leader. kUnavailable.
  virtual Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const = 0;
  /// The offset of the first record with a timestamp at or after `time`; the log's end if there is none.
  /// Asks the partition's leader. kUnavailable.
  virtual Result<int64_t> OffsetForTime(int32_t partition, TimeMs time,
                                        std::chrono::milliseconds timeout) const = 0;
  /// Whether the topic's cleanup.policy has "compact": then records are missing between those that are there.
  /// false also if the brokers don't say. kUnavailable.
  virtual Result<bool> IsCompacted(std::chrono::milliseconds /*timeout*/) const { return false; }
  /// The offsets that the whole group has committed, for all partitions of the topic; -1: none yet.
  /// kUnavailable.
  virtual Result<std::map<int32_t, int64_t>> GroupCommitted(std::chrono::milliseconds timeout) const = 0;

  /// Commits in one request that everything below each offset is done. Asynchronous. Failures are counted and
  /// logged. Nothing here depends on a commit.
  virtual void Commit(const std::map<int32_t, int64_t>& offsets) = 0;
  void Commit(int32_t partition, int64_t offset) { Commit({{partition, offset}}); }

  /// Revokes all partitions (OnRevoked runs), waits for commits in flight, and disconnects. Workers must have
  /// stopped polling before. After it, nobody calls anything except the figures below. Idempotent.
  virtual void Close() = 0;

  virtual bool brokers_reachable() const = 0;  // false until the first answer
  virtual bool opening() const = 0;            // OnAssigned hasn't answered yet for an assigned partition
  /// The topic's partitions that no member of the group has owned for some seconds; ascending. The log itself
  /// makes the group assign again. Empty if the brokers can't be asked.
  virtual std::vector<int32_t> unowned_partitions() const { return {}; }
  virtual std::string last_problem() const = 0;  // for people: why it can't read; empty when fine
};

}  // namespace seen
