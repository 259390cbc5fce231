#pragma once
// Opens partitions' state in RocksDB, and makes the options of their flows from the configuration.

#include <memory>
#include <vector>

#include "app/kept_copies.h"
#include "app/memory_budget.h"
#include "app/state_streams.h"
#include "config/config.h"
#include "consume/exposures_handler.h"
#include "flow/partition_options.h"
#include "rocks/resources.h"
#include "store/rocks_partition_store.h"
#include "store/store_directory.h"

namespace seen {

class RocksStores final : public PartitionStores {
 public:
  /// `groups`: which items are similar; nullptr: off. `publish_incomplete`: as in PartitionOptions. `state`:
  /// the state topic; nullptr: off. `kept`: folders of other daemons' partitions; nullptr: they stay. All
  /// references outlive this object.
  RocksStores(const Config& config, std::shared_ptr<const EventPlan> plan, const ItemGroups* groups,
              const StoreDirectory& directory, const StoreResources& resources, const MemoryBudget& budget,
              bool publish_incomplete, StateStreams* state, KeptCopies* kept);

  void Expect(int32_t partition, int32_t partition_count) override;
  Result<Opened> Open(int32_t partition, int32_t partition_count) override;
  Status Remove(int32_t partition) override { return directory_.RemovePartition(partition); }
  void Abandon(int32_t partition) override;

 private:
  PartitionOptions FlowOptions(int32_t partition, int32_t partition_count,
                               const RocksPartitionStore& store) const;

  const Config& config_;
  const std::shared_ptr<const EventPlan> plan_;
  const ItemGroups* const groups_;
  const StoreDirectory& directory_;
  const StoreResources& resources_;
  const MemoryBudget& budget_;
  const bool publish_incomplete_;
  StateStreams* const state_;
  KeptCopies* const kept_;
  const std::shared_ptr<JournalBudget> journal_budget_;
};

}  // namespace seen
