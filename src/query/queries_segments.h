#pragma once
// What `segments` answers about a user's state.

#include "base/clock.h"
#include "flow/filter_policy.h"
#include "model/delta.h"
#include "serve/query_port.h"

namespace seen {

/// Of `delta`, as it counts in `filter` at `now`. as_of and partition are left to the caller.
UserAnswer DescribeUser(const Delta& delta, const FilterPolicy& filter, TimeMs now);

}  // namespace seen
