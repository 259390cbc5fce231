#pragma once
// Digests as JSON, written by the daemon and by seenctl, read by seenctl: docs/HTTP.md, "Digests".

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "base/result.h"
#include "rows/state_digest.h"
#include "serve/state_copies_port.h"

namespace seen {

nlohmann::ordered_json DigestsToJson(const std::vector<FilterDigest>& filters);
/// kMalformed names the field.
Result<std::vector<FilterDigest>> DigestsFromJson(const nlohmann::json& json);

nlohmann::ordered_json PartitionDigestToJson(const PartitionDigest& digest);
/// kMalformed names the field.
Result<PartitionDigest> PartitionDigestFromJson(const nlohmann::json& json);

}  // namespace seen
