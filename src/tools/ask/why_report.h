#pragma once
// The daemon's answer to "why is this item dropped?", for a person.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace seen {

/// `answer`: GET .../why as it is (docs/HTTP.md). Throws nlohmann::json::exception where it isn't like that.
std::string WhyText(const nlohmann::json& answer);

}  // namespace seen
