#pragma once
// Records of the topic of groups: schemas/item_groups.md.

#include <string>
#include <string_view>

#include "base/result.h"
#include "model/item_group.h"

namespace seen {

/// Appends the record's value; the same group gives the same bytes.
void WriteItemGroup(const ItemGroup& group, std::string& out);
/// kMalformed: the message names field, value and remedy. Ignores members that it doesn't know. Any thread.
Result<ItemGroup> ReadItemGroup(std::string_view json);

}  // namespace seen
