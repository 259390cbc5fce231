#pragma once

#include <optional>
#include <string>

#include "rows/descriptor.h"

namespace seen {

/// What the store of `partition` in `directory` was made for, without opening it for good or changing it. It
/// isn't open. nullopt: there is none, or it can't be read (opening it says why).
std::optional<StoreIdentity> ReadStoredIdentity(const std::string& directory, int32_t partition);

}  // namespace seen
