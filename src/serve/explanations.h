#pragma once
// Answers in sentences, as "explanation" of the JSON (docs/HTTP.md). seenctl prints them.

#include <string>
#include <string_view>
#include <vector>

#include "query/query_port.h"

namespace seen {

/// The first sentence says whether the item is dropped, and why.
std::vector<std::string> ExplainWhy(std::string_view item, const WhyAnswer& answer);
/// How the item got into its group, and how large the group is.
std::vector<std::string> ExplainGroup(const GroupAnswer& answer);

}  // namespace seen
