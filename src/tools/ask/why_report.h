#pragma once
// The daemon's answer to "why is this item dropped?", for a person.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace seen {

/// `answer`: the unchanged JSON of GET .../why (docs/HTTP.md). Otherwise throws nlohmann::json::exception.
std::string WhyText(const nlohmann::json& answer);

}  // namespace seen
