#pragma once
// Checks a configuration document against the table of keys.

#include <span>
#include <string>
#include <vector>

#include "config/config_text.h"

namespace seen {

struct CheckedConfig {
  ConfigJson shown;                 // defaults filled in, secrets by reference
  ConfigJson resolved;              // the same with the secrets' values
  std::vector<ConfigError> errors;  // in the table's order; if there are any, the documents are partial
};

/// Checks every key on its own. config.cc checks the rules between keys. Reads the environment and the files
/// that secrets name.
CheckedConfig CheckConfig(const ConfigJson& document);

// Compares the configuration that runs with one that was read again.

struct ConfigChange {
  std::string path;  // as errors name it: "filters[0].snapshot.debounce_ms"
  ConfigJson::json_pointer at;
  bool is_live = false;  // a reload applies the change; otherwise it waits for a restart
};

/// Both documents have their defaults filled in (Config::effective_json). The changes are in the table's
/// order. A list of another length is one change as a whole; so is an element with another name. Pure.
std::vector<ConfigChange> CompareConfigs(const ConfigJson& running, const ConfigJson& read);

// `--set KEY=VALUE` (config_override.cc): applied before the check, so that file and overrides pass the same
// checks.

/// Applies `overrides` in order. Appends the path of each applied override to `paths`, as errors name it.
/// Errors: no '='; a path that leads nowhere ("filters[3]" of two, "filters.home" without such a name); a
/// secret in the value itself. The check of the whole document reports unknown keys.
std::vector<ConfigError> ApplyOverrides(ConfigJson& document, std::span<const std::string> overrides,
                                        std::vector<std::string>& paths);

}  // namespace seen
