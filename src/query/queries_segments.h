#pragma once
// Computes what `segments` answers about a user's state.

#include "base/clock.h"
#include "flow/filter_policy.h"
#include "model/delta.h"
#include "serve/query_port.h"

namespace seen {

/// Describes `delta` as it counts in `filter` at `now`. The caller fills in as_of and partition.
UserAnswer DescribeUser(const Delta& delta, const FilterPolicy& filter, TimeMs now);

}  // namespace seen
