#pragma once
// What programs beside the daemon need of its configuration to judge items as it does.

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
  std::string brokers;  // kafka.brokers; empty: not given
  ItemsConfig items;
};

/// `text`: a whole configuration. Its section "items" and kafka.brokers, by the same table as LoadConfig. The
/// other keys aren't looked at: nobody needs the secrets that they name. An error too where the section isn't
/// there or null.
tl::expected<ItemsSections, std::vector<ConfigError>> LoadItems(std::string_view text);

/// The rules by which items are grouped.
GroupOptions GroupOptionsOf(const ItemsConfig& items);

struct IdfSource {
  std::shared_ptr<const IdfTable> table;
  std::string text;  // it was read from
};
/// items.idf_file; nullopt: the bundled table. kInvalidArgument names key, file, line and remedy.
Result<IdfSource> ReadIdfFile(const std::optional<std::string>& path);

}  // namespace seen
