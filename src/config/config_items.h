#pragma once
// The parts of the daemon's configuration that other programs need to group items as the daemon does.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/result.h"
#include "config/config.h"
#include "group/idf_table.h"
#include "items/group_flow.h"

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

struct IdfSource {
  std::shared_ptr<const IdfTable> table;
  std::string text;  // the text of `table`
};
/// Reads items.idf_file; nullopt: the bundled table. kInvalidArgument names key, file, line and remedy.
Result<IdfSource> ReadIdfFile(const std::optional<std::string>& path);

}  // namespace seen
