#pragma once
// `--set KEY=VALUE` applied to the document before it is checked, so that both go through the same checks.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "config/config_text.h"

namespace seen {

/// Applies `overrides` in order. `paths` gets the path of each one applied, as errors name it.
/// Errors: no '=', a path that can't be followed ("filters[3]" of two, "filters.home" without such a name).
/// An unknown key is left to the check of the whole.
std::vector<ConfigError> ApplyOverrides(ConfigJson& document, std::span<const std::string> overrides,
                                        std::vector<std::string>& paths);

}  // namespace seen
