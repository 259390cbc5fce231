#pragma once
// The input topic as a static member of a consumer group: one control thread, several worker threads, each
// partition's records to one worker.
//
// Threads. PollControl, Close and the destructor: one thread, the control thread. PollWorker(w): one thread
// for each w. RebalanceHandler runs on the control thread inside PollControl or Close, WorkerHandler on the
// worker's. Everything else: any thread, unless it says otherwise.
//
// What never reaches a WorkerHandler: a record of a partition that isn't assigned, one of an assignment or a
// position before the last Seek, one whose offset isn't above the last delivered. librdkafka drops outdated
// messages when they leave its queue; PollWorker, in addition, drops by itself what was fetched under an
// older epoch of the partition (an epoch starts at each assignment and Seek) or doesn't go forward.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"
#include "kafka/watermarks.h"

namespace seen {

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
  /// Returns the offset to start from. kUnavailable: asked again with back-off (0.1 s doubling to 5 s) while
  /// the other partitions go on. Any other error comes out of PollControl and the partition isn't read.
  virtual Result<int64_t> OnAssigned(const Assignment& assignment) = 0;
  /// Partitions for which OnAssigned returned an offset. No WorkerHandler runs for them from here on. `lost`:
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
};

class Consumer {
 public:
  struct Options {
    std::string brokers;    // bootstrap.servers
    ClientSettings client;  // checked by CheckClientSettings; what the daemon guarantees overrides it
    std::string topic;
    std::string group_id;
    std::string instance_id;  // group.instance.id; empty: a dynamic member
    int workers = 1;
    uint64_t fetch_bytes_max = 64 << 20;  // all fetch queues together, messages and librdkafka's own overhead
    size_t batch_records_max = 4096;      // a worker's one poll
  };

  /// Subscribes; connects in the background. `rebalance` outlives the consumer. kInvalidArgument: settings.
  static Result<std::unique_ptr<Consumer>> Open(const Options& options, RebalanceHandler& rebalance);
  ~Consumer();  // Close
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  /// Rebalances, errors, retries; waits up to `timeout`. Brokers away isn't an error: it is logged with
  /// back-off, see brokers_reachable. kRefused: fenced by another process with this instance id, or what
  /// OnAssigned refused. Must be called at least every few seconds (max.poll.interval.ms is librdkafka's 5
  /// minutes).
  Status PollControl(std::chrono::milliseconds timeout);

  /// Waits up to `timeout` for the first record, takes what else is there, hands over one batch a partition.
  /// Returns how many records were handed over.
  size_t PollWorker(int worker, std::chrono::milliseconds timeout, WorkerHandler& handler);

  /// The worker that gets this partition's records: partition % workers.
  int WorkerOf(int32_t partition) const;

  /// Next record delivered is the one at `offset` or the first after it. On the partition's worker thread (in
  /// a handler or between polls). Takes effect with the next PollControl. kNotFound: not assigned (any more).
  Status Seek(int32_t partition, int64_t offset);

  /// As seen in the last fetch; no I/O. Unknown values are -1.
  Watermarks CachedWatermarks(int32_t partition) const;
  /// Asks the partition's leader. kUnavailable.
  Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const;
  /// The topic's retention.ms. nullopt: unlimited (-1), or the broker doesn't say (embedded). kUnavailable.
  Result<std::optional<int64_t>> RetentionMs(std::chrono::milliseconds timeout) const;

  /// What the whole group has committed: all partitions of the topic, -1 where there is nothing yet.
  /// kUnavailable.
  Result<std::map<int32_t, int64_t>> GroupCommitted(std::chrono::milliseconds timeout) const;

  /// Tells the group that everything below `offset` is done. Asynchronous; failures are counted and logged,
  /// nothing here depends on them.
  void Commit(int32_t partition, int64_t offset);
  void Commit(const std::map<int32_t, int64_t>& offsets);  // in one request

  /// Revokes (OnRevoked runs), waits for commits under way, disconnects. A static member doesn't leave the
  /// group: back within session.timeout.ms it gets its partitions again at once. Workers have stopped polling
  /// before; after it nobody calls anything but the figures below. Idempotent.
  void Close();

  bool brokers_reachable() const;    // false until the first answer
  bool opening() const;              // OnAssigned has yet to give an offset for some assigned partition
  std::string last_problem() const;  // for people: what keeps it from reading; empty when fine
  uint64_t commits_failed_total() const;
  uint64_t records_stale_total() const;  // dropped by the guard described above

 private:
  struct Impl;
  explicit Consumer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
