#pragma once
// Writes a built partition's state into a daemon's directory.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bulk_load/state_builder.h"
#include "rocks/resources.h"

namespace seen {

/// Replaces all that `directory` has of the partition, whole or not at all. The caller holds the directory
/// open meanwhile. kNoSpace, kUnavailable, kCorrupt. One thread per partition.
Status WriteIntoDirectory(StateBuilder& builder, const BuiltState& state, const std::string& directory,
                          const StoreResources& resources);

}  // namespace seen
