#pragma once
// A topic in memory, and a member of its group. A test assigns and revokes partitions, and appends records. A
// test also deletes records as retention does, recreates the topic, and takes the brokers away. Thread-safe
// as GroupLog is.

#include <atomic>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "consume/group_log.h"

namespace seen::sim {

/// Any thread.
class FakeTopic {
 public:
  struct Entry {
    TimeMs timestamp;
    std::string key, value;
  };
  explicit FakeTopic(int32_t partitions) : partitions_(static_cast<size_t>(partitions)) {}

  /// Returns the entry's offset.
  int64_t Append(int32_t partition, Entry entry);
  void AddPartition();
  /// Retention: records below `low` are deleted.
  void DeleteTo(int32_t partition, int64_t low);
  /// The topic was recreated: `partition` is empty.
  void Recreate(int32_t partition);
  void Commit(const std::map<int32_t, int64_t>& offsets);
  void SetCommitted(int32_t partition, int64_t offset);

  int32_t partition_count() const;
  Watermarks watermarks(int32_t partition) const;
  std::optional<int64_t> committed(int32_t partition) const;
  int64_t OffsetForTime(int32_t partition, TimeMs time) const;
  /// From `offset` on, `records_max` at most.
  std::vector<Entry> Read(int32_t partition, int64_t offset, size_t records_max) const;

  /// Called before a commit takes effect, without this topic's locks.
  std::function<void(int32_t partition, int64_t offset)> on_commit;

 private:
  struct Partition {
    int64_t low = 0;
    std::deque<Entry> entries;
    std::optional<int64_t> committed;
  };
  mutable std::mutex mutex_;
  std::vector<Partition> partitions_;  // mutex_
};

class FakeGroupLog final : public GroupLog {
 public:
  FakeGroupLog(FakeTopic& topic, RebalanceHandler& handler, int workers, size_t batch_records_max = 64);

  /// The group's decision; takes effect in PollControl. Any thread.
  void Assign(std::vector<int32_t> partitions);
  void Revoke(std::vector<int32_t> partitions, bool lost = false);
  void SetReachable(bool reachable) { reachable_ = reachable; }
  /// As many records of an open transaction stand behind the records of each partition.
  void SetOpenMessages(int64_t messages) { open_messages_ = messages; }
  /// From now on PollControl fails as in a fenced member.
  void Fence();
  /// The process is gone: the handler gets no revocation.
  void Crash() { closed_ = true; }
  std::set<int32_t> read_partitions();  // assigned, and read

  Status PollControl(std::chrono::milliseconds timeout) override;
  size_t PollWorker(int worker, std::chrono::milliseconds timeout, WorkerHandler& handler) override;
  int WorkerOf(int32_t partition) const override { return partition % static_cast<int32_t>(workers_.size()); }
  Status Seek(int32_t partition, int64_t offset) override;
  void StopReading(int32_t partition) override;
  Watermarks CachedWatermarks(int32_t partition) const override {
    Watermarks known = topic_.watermarks(partition);
    known.high += open_messages_;
    return known;
  }
  Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const override;
  Result<int64_t> OffsetForTime(int32_t partition, TimeMs time,
                                std::chrono::milliseconds timeout) const override;
  Result<std::map<int32_t, int64_t>> GroupCommitted(std::chrono::milliseconds timeout) const override;
  using GroupLog::Commit;
  void Commit(const std::map<int32_t, int64_t>& offsets) override;
  void Close() override;
  bool brokers_reachable() const override { return reachable_; }
  bool opening() const override;
  std::string last_problem() const override { return reachable_ ? "" : "brokers are away"; }

 private:
  struct State {
    int64_t next_offset = 0;
    bool seeking = false;       // takes effect in PollControl
    bool out_of_range = false;  // the handler was called
    int64_t end_told = -1;
    bool stopped = false;  // not read until Seek
  };
  struct Worker {
    std::recursive_mutex mutex;
    std::map<int32_t, State> read;  // mutex
  };
  struct Rebalance {
    bool assigns = false;
    std::vector<int32_t> partitions;
    bool lost = false;
  };
  Worker& WorkerFor(int32_t partition) const {
    return *workers_[static_cast<size_t>(partition) % workers_.size()];
  }
  Status OpenPending();
  void Apply(const Rebalance& rebalance);
  size_t PollPartition(int32_t partition, State& state, WorkerHandler& handler);

  FakeTopic& topic_;
  RebalanceHandler& handler_;
  const size_t batch_records_max_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::atomic<bool> reachable_{true};
  std::atomic<int64_t> open_messages_{0};
  std::atomic<bool> closed_{false};
  mutable std::mutex mutex_;
  std::deque<Rebalance> rebalances_;  // mutex_
  bool fenced_ = false;               // mutex_
  std::set<int32_t> pending_;         // mutex_
  std::set<int32_t> owned_;           // control
};

}  // namespace seen::sim
