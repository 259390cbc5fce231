#pragma once
// Reads a JSON list of items in the forms that services write.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"

namespace seen {

/// Elements are strings, integers, or objects with "id" or "item_id". kInvalidArgument names the element.
Result<std::vector<std::string>> ReadItemList(const nlohmann::json& list);

}  // namespace seen
