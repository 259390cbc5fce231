#pragma once
// Answers as JSON: docs/HTTP.md. seenctl reads the digests.

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/query_port.h"
#include "rows/state_digest.h"

namespace seen {

/// One line. Bytes that aren't UTF-8 become U+FFFD.
std::string DumpLine(const nlohmann::ordered_json& json);

std::string WriteUser(std::string_view filter, std::string_view user_id, const UserAnswer& answer);
std::string WriteExposures(const ExposuresAnswer& answer);
std::string WriteWhy(std::string_view item, const WhyAnswer& answer);
/// The item is shown as the topic of groups has it.
std::string WriteGroup(const GroupAnswer& answer);
/// {"similar":[{"item_id":"n1","similarity":0.93,"distance":2,"found_by":"both"}],"cut":false}
std::string WriteSimilarAnswer(const SimilarAnswer& answer);

nlohmann::ordered_json DigestsToJson(const std::vector<FilterDigest>& filters);
nlohmann::ordered_json PartitionDigestToJson(const PartitionDigest& digest);
// kMalformed names the field.
Result<std::vector<FilterDigest>> DigestsFromJson(const nlohmann::json& json);
Result<PartitionDigest> PartitionDigestFromJson(const nlohmann::json& json);

}  // namespace seen
