#pragma once
// The rows of several partitions in the order of their keys, each key once.

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "rows/stored_limits.h"
#include "store/resting_rows.h"

namespace seen {

/// Gives `visit` each user's rows of all `sources`, with the source that it is from. Sets under one key are
/// composed, those without an id first: a state that was resharded before has these in each partition. Of
/// other rows under one key the last one counts. Errors of a source or of `visit` end it.
using VisitMerged = std::function<Status(std::string_view key, std::string_view value, RestingRows& source)>;
Status ForEachMerged(const std::vector<std::unique_ptr<RestingRows>>& sources, const StoredLimits& limits,
                     const VisitMerged& visit);

}  // namespace seen
