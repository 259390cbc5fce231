#pragma once
// The daemon's answer to "which of these are unseen?", for a person.

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace seen {

// `answer`: POST .../unseen as it is (docs/HTTP.md). Both throw nlohmann::json::exception where it isn't like
// that.

/// A line an item.
std::string UnseenText(const nlohmann::json& answer);
/// A line an item that is like what was seen, or like another of the answer; empty where the daemon reports
/// none.
std::string SimilarText(const nlohmann::json& answer);

}  // namespace seen
