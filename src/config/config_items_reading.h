#pragma once
// Reads the section "items" of a document. config.cc reads the other sections.

#include <string>
#include <vector>

#include "config/config.h"
#include "config/config_text.h"

namespace seen {

/// The topic of the items in order, if items.topic has several partitions: as given, or derived from
/// items.topic. Empty if these keys are invalid.
std::string OrderedTopic(const ConfigJson& document);

/// Appends the mistakes in items.fields. `document`: as CheckConfig resolved it.
void CheckItemFields(const ConfigJson& document, std::vector<ConfigError>& errors);

/// Reads the section. `document` has no mistakes, and has the section.
ItemsConfig ToItems(const ConfigJson& document);

}  // namespace seen
