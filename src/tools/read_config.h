#pragma once
// The daemon's configuration, as tools read it.

#include <span>
#include <string>

#include "base/result.h"
#include "config/config.h"

namespace seen {

/// `path` empty: the defaults. `overrides`: as LoadConfig takes them. kInvalidArgument: all mistakes at once;
/// kInvalidArgument.
Result<Config> ReadConfig(const std::string& path, std::span<const std::string> overrides);

}  // namespace seen
