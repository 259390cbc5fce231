#pragma once
// Applies `--set KEY=VALUE` to the document before the check, so that file and overrides pass the same
// checks.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config_text.h"

namespace seen {

/// Applies `overrides` in order. Appends the path of each applied override to `paths`, as errors name it.
/// Errors: no '='; a path that leads nowhere ("filters[3]" of two, "filters.home" without such a name); a
/// secret in the value itself. The check of the whole document reports unknown keys.
std::vector<ConfigError> ApplyOverrides(ConfigJson& document, std::span<const std::string> overrides,
                                        std::vector<std::string>& paths);

}  // namespace seen
