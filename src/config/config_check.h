#pragma once
// A configuration document against the table of keys.

#include <vector>

#include "config/config_text.h"

namespace seen {

struct CheckedConfig {
  ConfigJson shown;                 // defaults filled in, secrets by reference
  ConfigJson resolved;              // the same with the secrets' values
  std::vector<ConfigError> errors;  // in the table's order; where there are any the documents are partial
};

/// Every key on its own; rules between keys are config.cc's. Reads the environment and files that secrets
/// name.
CheckedConfig CheckConfig(const ConfigJson& document);

}  // namespace seen
