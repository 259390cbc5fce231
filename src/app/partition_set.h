#pragma once
// The partitions this process owns: opened, looked up, checkpointed, closed.

#include <memory>
#include <string>
#include <vector>

#include "app/memory_budget.h"
#include "config/config.h"
#include "flow/open_partition.h"
#include "kafka/consumer.h"
#include "rocks/resources.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"

namespace seen {

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

  /// Any thread.
  OpenPartitions& open() { return open_; }
  const OpenPartitions& open() const { return open_; }
  bool rebuild() const { return options_.rebuild; }

  /// Writes the frozen tail if there is one and it is time. The offset that may be committed, -1: nothing
  /// done.
  int64_t CheckpointOnce(OpenPartition& open);

 private:
  Result<PartitionPointer> OpenStore(int32_t partition, int32_t partition_count,
                                     const Watermarks& watermarks);

  const Options options_;
  StoreDirectory& directory_;
  const StoreResources& resources_;
  const MemoryBudget& budget_;
  const std::shared_ptr<JournalBudget> journal_budget_;
  DeadLetterSink& dead_letters_;
  Reporter& reporter_;
  const Clock& clock_;

  OpenPartitions open_;
};

}  // namespace seen
