#pragma once
// The daemon's answers about groups of items, for a person.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace seen {

/// `answer`: GET /v1/groups/{item} as it is (docs/HTTP.md). Throws nlohmann::json::exception where it isn't
/// like that.
std::string GroupText(const nlohmann::json& answer);

/// Of POST /v1/similar.
std::string SimilarItemsText(const nlohmann::json& answer);

}  // namespace seen
