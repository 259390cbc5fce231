#pragma once
// The JSON of POST .../removed.

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace seen {

/// `{"items":["a",7]}`: ids as strings, an integer as its decimal string; at least one and at most
/// kRemovedItemsMax. kInvalidArgument names the JSON path of what is wrong: "$.items[3]: empty". Unknown and
/// repeated keys are errors.
Result<std::vector<std::string>> ParseRemovedItems(std::string_view body);

/// True for a Content-Type header that says JSON, with or without parameters.
bool IsJson(std::string_view content_type);

}  // namespace seen
