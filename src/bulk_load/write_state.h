#pragma once
// Where a built partition's state goes: into a daemon's directory.

#include <cstdint>
#include <string>

#include "base/result.h"
#include "bulk_load/state_builder.h"
#include "rocks/resources.h"

namespace seen {

/// Takes the place of what the directory, held open meanwhile, has of the partition: whole or not at all.
/// kNoSpace, kUnavailable, kCorrupt. One thread a partition.
Status WriteIntoDirectory(StateBuilder& builder, const BuiltState& state, const std::string& directory,
                          const StoreResources& resources);

}  // namespace seen
