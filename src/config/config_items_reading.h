#pragma once
// The section "items" of a document, as config.cc reads it with the others.

#include <string>
#include <vector>

#include "config/config.h"
#include "config/config_text.h"

namespace seen {

/// Where items of several partitions are put in order: as given, or derived. Empty if the keys that it goes
/// by are wrong.
std::string OrderedTopic(const ConfigJson& document);

/// Appends what is wrong with items.fields. `document`: as CheckConfig resolved it.
void CheckItemFields(const ConfigJson& document, std::vector<ConfigError>& errors);

/// The section itself, of a document without errors that has it.
ItemsConfig ToItems(const ConfigJson& document);

}  // namespace seen
