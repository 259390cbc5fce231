#pragma once
// The daemon's answers about groups of items, for a person.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace seen {

/// `answer`: the unchanged JSON of GET /v1/groups/{item} (docs/HTTP.md). Throws nlohmann::json::exception if
/// it has another form.
std::string GroupText(const nlohmann::json& answer);

/// The same for POST /v1/similar.
std::string SimilarItemsText(const nlohmann::json& answer);

}  // namespace seen
