#pragma once
// Compares the configuration that runs with one that was read again.

#include <string>
#include <vector>

#include "config/config_text.h"

namespace seen {

struct ConfigChange {
  std::string path;  // as errors name it: "filters[0].snapshot.debounce_ms"
  ConfigJson::json_pointer at;
  bool is_live = false;  // a reload applies the change; otherwise it waits for a restart
};

/// Both documents have their defaults filled in (Config::effective_json). The changes are in the table's
/// order. A list of another length is one change as a whole; so is an element with another name. Pure.
std::vector<ConfigChange> CompareConfigs(const ConfigJson& running, const ConfigJson& read);

}  // namespace seen
