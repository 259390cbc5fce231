#pragma once
// Checks a configuration document against the table of keys.

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

}  // namespace seen
