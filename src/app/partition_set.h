#pragma once
// The partitions this process owns: opened, looked up, checkpointed, closed.

#include <atomic>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "app/config.h"
#include "app/memory_budget.h"
#include "flow/partition_flow.h"
#include "flow/status.h"
#include "kafka/consumer.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"
#include "store/store_resources.h"

namespace seen {

/// One open partition. Kept alive by whoever reads it; the store closes when the last reader is done.
struct OpenPartition {
  int32_t partition = 0;
  uint64_t unexposed_tag = 0;  // of tickets for unexposed items
  uint64_t ticket_tag = 0;     // unique a process: upper half of the publisher's tickets
  std::unique_ptr<RocksPartitionStore> store;
  std::unique_ptr<PartitionFlow> flow;

  std::mutex worker_mutex;        // the flow's worker role: a worker thread, or the one that closes
  bool closed = false;            // worker_mutex: the flow takes nothing more
  std::mutex checkpoint_mutex;    // the flow's checkpoint role
  Instant checkpoint_retry_at{};  // checkpoint_mutex

  // The offset up to which it must have read before it answers, being caught up: until re-keying has caught
  // up too it isn't known.
  static constexpr int64_t kNotYet = std::numeric_limits<int64_t>::max();
  std::atomic<int64_t> answers_from{0};
  bool AwaitsRekeying() const { return flow->next_offset() < answers_from.load(std::memory_order_acquire); }
  bool CaughtUp() const { return flow->CaughtUp() && !AwaitsRekeying(); }

  std::atomic<bool> disk_full{false};
  std::atomic<bool> stopped{false};       // its state can't be read: nothing is served or consumed
  std::atomic<int64_t> held_since_ms{0};  // wall clock; 0: records are taken
  std::string_view held_reason;           // worker_mutex; a constant

  void Stop(std::string reason);
  std::string stop_reason() const;

 private:
  mutable std::mutex reason_mutex_;
  std::string stop_reason_;
};

using PartitionPointer = std::shared_ptr<OpenPartition>;

class PartitionSet {
 public:
  struct Options {
    const Config* config = nullptr;
    bool rebuild = false;
    std::shared_ptr<const EventPlan> plan = EventPlan::Default();  // of the configuration's format
    const ItemGroups* groups = nullptr;                            // which items are alike; nullptr: off
  };
  PartitionSet(Options options, StoreDirectory& directory, const StoreResources& resources,
               const MemoryBudget& budget, DeadLetterSink& dead_letters, Reporter& reporter,
               const Clock& clock);

  /// Control thread. Opens or makes the partition's state and says where reading starts. kRefused: what must
  /// not pass silently, with its remedy; kUnavailable: try again.
  Result<int64_t> Open(const Assignment& assignment);
  /// Worker, for --rebuild, when the log turned out to be another: drops the state and begins anew at `low`.
  Result<int64_t> Rebuild(int32_t partition, const Watermarks& watermarks);
  /// Control thread, when no worker handles the partition: last checkpoint, then closed. Returns the offset
  /// that may be committed; -1: none.
  int64_t Close(int32_t partition, bool write_checkpoint);

  /// Any thread. nullptr: not open here.
  PartitionPointer Find(int32_t partition) const;
  std::vector<PartitionPointer> All() const;
  bool rebuild() const { return options_.rebuild; }

  /// Writes the frozen tail if there is one and it is time. The offset that may be committed, -1: nothing
  /// done.
  int64_t CheckpointOnce(OpenPartition& open);

 private:
  Result<PartitionPointer> OpenStore(int32_t partition, int32_t partition_count,
                                     const Watermarks& watermarks);
  PartitionPointer Take(int32_t partition);

  const Options options_;
  StoreDirectory& directory_;
  const StoreResources& resources_;
  const MemoryBudget& budget_;
  const std::shared_ptr<JournalBudget> journal_budget_;
  DeadLetterSink& dead_letters_;
  Reporter& reporter_;
  const Clock& clock_;

  mutable std::mutex mutex_;
  std::map<int32_t, PartitionPointer> open_;  // mutex_
  uint64_t next_tag_ = 1;                     // mutex_
};

}  // namespace seen
