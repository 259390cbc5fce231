#pragma once
// Reads a topic as a static member of a consumer group, with one control thread and several worker threads.
// Each partition's records go to one worker (partition % workers). See consume/group_log.h for threads and
// contracts.
//
// These records never reach a WorkerHandler:
// - records of a partition that isn't assigned;
// - records of an assignment or a position before the last Seek;
// - records whose offset isn't above the last delivered one.
//
// librdkafka drops outdated messages when they leave its queue. In addition, PollWorker drops records that
// were fetched under an older epoch of the partition, and records that don't go forward. An epoch starts at
// each assignment and each Seek.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "consume/group_log.h"
#include "kafka/client_settings.h"
#include "owner/lease.h"

namespace seen {

class Consumer final : public GroupLog {
 public:
  struct Options {
    std::string brokers;    // bootstrap.servers
    ClientSettings client;  // checked by CheckClientSettings; the daemon's guarantees override it
    std::string topic;
    std::string group_id;
    std::string instance_id;  // group.instance.id; empty: a dynamic member
    int workers = 1;
    uint64_t fetch_bytes_max = 64 << 20;  // of all fetch queues together: messages and librdkafka's overhead
    size_t batch_records_max = 4096;      // of one poll of a worker
    // Asks for the group's members, and joins the group again if partitions have no owner. Not for the
    // embedded broker: it doesn't answer.
    bool watch_owners = false;
    // How often the last record read of each partition is read again. This shows that the topic was
    // recreated, or that its log was cut. 0: never.
    std::chrono::milliseconds check_log_every{10'000};
    CommitLease* lease = nullptr;  // renewed by commits, ended by revocations; must outlive the consumer
  };

  /// Subscribes; connects in the background. `rebalance` must outlive the consumer. kInvalidArgument:
  /// settings.
  static Result<std::unique_ptr<Consumer>> Open(const Options& options, RebalanceHandler& rebalance);
  ~Consumer() override;  // calls Close
  Consumer(const Consumer&) = delete;
  Consumer& operator=(const Consumer&) = delete;

  /// Logs unreachable brokers with back-off. Call it again and again: Seek and retries wait for it. A member
  /// whose handlers keep it for longer than max.poll.interval.ms (librdkafka's five minutes, unless
  /// kafka.client says otherwise) loses its partitions.
  Status PollControl(std::chrono::milliseconds timeout) override;
  size_t PollWorker(int worker, std::chrono::milliseconds timeout, WorkerHandler& handler) override;
  int WorkerOf(int32_t partition) const override;
  Status Seek(int32_t partition, int64_t offset) override;
  void StopReading(int32_t partition) override;
  Watermarks CachedWatermarks(int32_t partition) const override;
  Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const override;
  Result<int64_t> OffsetForTime(int32_t partition, TimeMs time,
                                std::chrono::milliseconds timeout) const override;
  /// The high watermark of each of these logs: records of open transactions stand before it. One request per
  /// broker. Returns all, or kUnavailable.
  Result<std::map<int32_t, int64_t>> LogEnds(std::span<const int32_t> partitions,
                                             std::chrono::milliseconds timeout) const;
  /// Whether the log was found to be the one that was read, by a check that began at `since` or later. If it
  /// wasn't, a check begins soon. True if logs aren't checked.
  bool LogIsChecked(int32_t partition, Instant since) const;
  Result<bool> IsCompacted(std::chrono::milliseconds timeout) const override;
  Result<std::map<int32_t, int64_t>> GroupCommitted(std::chrono::milliseconds timeout) const override;
  using GroupLog::Commit;
  void Commit(const std::map<int32_t, int64_t>& offsets) override;
  /// A static member doesn't leave the group. If it is back within session.timeout.ms, it gets its partitions
  /// again at once.
  void Close() override;

  bool brokers_reachable() const override;
  bool opening() const override;
  /// Whether the group has assigned partitions to this process since the start, or has decided on none.
  bool joined() const;
  std::string last_problem() const override;
  std::vector<int32_t> unowned_partitions() const override;
  uint64_t commits_failed_total() const;
  uint64_t logs_checked_total() const;   // last records read again and found to be the same
  uint64_t records_stale_total() const;  // dropped by the guard described above

 private:
  struct Impl;
  explicit Consumer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
