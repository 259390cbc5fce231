#pragma once
// What seenctl needs of the daemon's configuration to judge items as the daemon does.

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "decode/item_format.h"
#include "group/idf_table.h"
#include "items/group_flow.h"

namespace seen {

/// The defaults are the daemon's own.
struct ItemsSettings {
  std::string brokers;  // kafka.brokers; empty: not said
  std::string topic = "items";
  ItemFormat format;
  GroupOptions group;
  uint64_t text_bytes_max = 1 << 20;
  std::optional<std::string> idf_file;  // nullopt: the bundled table
};

/// The sections "kafka" and "items" of a configuration, comments allowed; other keys aren't looked at.
/// kInvalidArgument names key, value and remedy, also where there is no section "items".
Result<ItemsSettings> ParseItemsSettings(std::string_view json);

/// The same of a file; an empty `path`: the defaults. kNotFound: it can't be opened.
Result<ItemsSettings> ReadItemsSettings(const std::string& path);

/// The table that `settings` name.
Result<std::shared_ptr<const IdfTable>> LoadIdfTable(const ItemsSettings& settings);

}  // namespace seen
