#pragma once
// The configuration as a partition's flow and its store take it.

#include <string>
#include <vector>

#include "config/config.h"
#include "flow/partition_options.h"
#include "rows/descriptor.h"

namespace seen {

/// The filters in the configuration's order, as a store registers them.
std::vector<StoredFilter> StoredFiltersOf(const Config& config);
std::vector<std::string> DeclaredKindNames(const Config& config);
/// That the filters' snapshots go to.
std::vector<std::string> SnapshotTopicsOf(const Config& config);
StoreIdentity IdentityOf(const Config& config, int32_t partition, int32_t partition_count);

/// The numbers that a store gave to what the configuration names.
struct StoredNumbers {
  const std::vector<FilterId>& filters;                    // in the configuration's order
  const std::vector<uint8_t>& kinds;                       // likewise
  const std::vector<std::vector<KindPolicy>>& past_kinds;  // of each filter
};

/// What the configuration says of `partition`'s flow. Memory, journal and who listens are left as by default.
PartitionOptions FlowOptionsOf(const Config& config, int32_t partition, int32_t partition_count,
                               const StoredNumbers& numbers);

}  // namespace seen
