#pragma once
// GET .../users/{user}?format=&fpr=

#include <string_view>

#include "base/result.h"
#include "serve/query_port.h"

namespace seen {

/// From a request's target. kInvalidArgument names the parameter, its value and what is allowed. Any thread.
Result<SnapshotQuestion> ReadSnapshotQuestion(std::string_view target);

}  // namespace seen
