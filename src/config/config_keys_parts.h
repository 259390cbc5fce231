#pragma once
// The parts of the table that have their own files.

#include <span>

#include "config/config_keys.h"

namespace seen {

std::span<const ConfigKey> FiltersConfigKeys();
std::span<const ConfigKey> ItemsConfigKeys();

}  // namespace seen
