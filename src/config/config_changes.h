#pragma once
// What differs between the configuration that runs and one that was read again.

#include <string>
#include <vector>

#include "config/config_text.h"

namespace seen {

struct ConfigChange {
  std::string path;  // as errors name it: "filters[0].snapshot.debounce_ms"
  ConfigJson::json_pointer at;
  bool is_live = false;  // a reload applies it; else it waits for a restart
};

/// Both with their defaults filled in (Config::effective_json). In the order of the table. A list of another
/// length, and an element of another name, are one change as a whole. Pure.
std::vector<ConfigChange> CompareConfigs(const ConfigJson& running, const ConfigJson& read);

}  // namespace seen
