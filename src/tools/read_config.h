#pragma once
// Reads the daemon's configuration for tools.

#include <span>
#include <string>

#include "base/result.h"
#include "config/config.h"

namespace seen {

/// An empty `path` gives the defaults. `overrides`: as for LoadConfig. kInvalidArgument: the file can't be
/// read, or it has mistakes; the message names all of them.
Result<Config> ReadConfig(const std::string& path, std::span<const std::string> overrides);

}  // namespace seen
