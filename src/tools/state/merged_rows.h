#pragma once
// Merges the rows of several partitions in the order of their keys, each key once.

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rows/stored_limits.h"
#include "store/resting_rows.h"

namespace seen {

/// Calls `visit` with each user's rows of all `sources`, and with the source of the row. Composes sets under
/// the same key, sets without an id first. After an earlier reshard, each partition has such sets. Of other
/// rows under the same key, only one counts. Stops at an error of a source or of `visit`.
using VisitMerged = std::function<Status(std::string_view key, std::string_view value, RestingRows& source)>;
Status ForEachMerged(const std::vector<std::unique_ptr<RestingRows>>& sources, const StoredLimits& limits,
                     const VisitMerged& visit);

}  // namespace seen
