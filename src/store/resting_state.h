#pragma once
// What a partition's folder holds, read while nobody has it open.

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "rows/descriptor.h"

namespace seen {

struct RestingState {
  StoreDescriptor descriptor;
  std::optional<int64_t> position;  // the next offset of the input; nullopt: nothing was ever committed
};

/// nullopt: there is no database. Any error: the database can't be read; opening it says why. Changes
/// nothing.
Result<std::optional<RestingState>> ReadRestingState(const std::string& directory, int32_t partition);

}  // namespace seen
