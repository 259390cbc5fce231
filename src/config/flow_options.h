#pragma once
// Converts the configuration to what a partition's flow and its store take.

#include <string>
#include <vector>

#include "config/config.h"
#include "flow/partition_options.h"
#include "rows/descriptor.h"

namespace seen {

/// The filters in the configuration's order, as a store registers them.
std::vector<StoredFilter> StoredFiltersOf(const Config& config);
std::vector<std::string> DeclaredKindNames(const Config& config);
/// The topics of the filters' snapshots.
std::vector<std::string> SnapshotTopicsOf(const Config& config);
StoreIdentity IdentityOf(const Config& config, int32_t partition, int32_t partition_count);

/// The store's numbers for filters and kinds of the configuration.
struct StoredNumbers {
  const std::vector<FilterId>& filters;                    // in the configuration's order
  const std::vector<uint8_t>& kinds;                       // likewise, of the declared kinds
  const std::vector<std::vector<KindPolicy>>& past_kinds;  // for each filter
};

/// The options of `partition`'s flow, as configured. Memory, journal and listeners keep their defaults.
PartitionOptions FlowOptionsOf(const Config& config, int32_t partition, int32_t partition_count,
                               const StoredNumbers& numbers);

}  // namespace seen
