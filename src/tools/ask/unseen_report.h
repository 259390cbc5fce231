#pragma once
// The daemon's answer to "which of these items are unseen?", as text for a person.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace seen {

// `answer`: the unchanged JSON of POST .../unseen (docs/HTTP.md). Both functions throw
// nlohmann::json::exception if it has another form.

/// One line per item.
std::string UnseenText(const nlohmann::json& answer);
/// One line per item that is similar to a seen item, or to another of the answer. Empty if there are none.
std::string SimilarText(const nlohmann::json& answer);

}  // namespace seen
