#pragma once
// Memory by share and disk space, for the gauges.

#include <optional>
#include <string>
#include <vector>

#include "app/memory_budget.h"
#include "rocks/resources.h"
#include "serve/daemon_status.h"

namespace seen {

/// Leaves out shares that are empty in this configuration. Any thread.
std::vector<MemoryShare> MemoryShares(const MemoryBudget& budget, const StoreResources& resources,
                                      const std::vector<PartitionStatus>& partitions);

/// nullopt: the folder doesn't exist yet, or the system can't say. One system call. Any thread.
std::optional<DiskSpace> DiskSpaceOf(const std::string& folder);

}  // namespace seen
