#pragma once
// Reads the section "items" of the configuration. config.cc reads the other sections.

#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/config.h"
#include "config/config_text.h"

namespace seen {

struct ItemsSections {
  std::string brokers;  // kafka.brokers; empty if not given
  ItemsConfig items;
};

/// `text`: a whole configuration. Reads its section "items" and kafka.brokers, by the same table as
/// LoadConfig. Ignores the other keys: the caller doesn't need the secrets that they name. A section that is
/// missing or null is an error.
tl::expected<ItemsSections, std::vector<ConfigError>> LoadItems(std::string_view text);

/// The rules by which items are grouped.
GroupOptions GroupOptionsOf(const ItemsConfig& items);

/// The rules by which a new index reads texts.
TextRules TextRulesOf(const ItemsConfig& items);

/// The topic of the items in order, if items.topic has several partitions: as given, or derived from
/// items.topic. Empty if these keys are invalid.
std::string OrderedTopic(const ConfigJson& document);

/// Appends the mistakes in items.fields. `document`: as CheckConfig resolved it.
void CheckItemFields(const ConfigJson& document, std::vector<ConfigError>& errors);

/// Sets what the rows of the table don't set by themselves. `document` has no mistakes, and has the section.
void CompleteItems(const ConfigJson& document, ItemsConfig& items);

}  // namespace seen
