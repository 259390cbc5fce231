#pragma once
// GET .../users/{user}?format=&fpr=

#include "base/result.h"
#include "serve/query_port.h"
#include "serve/query_string.h"

namespace seen {

/// Reads "format" and "fpr", and ignores other parameters. kInvalidArgument names the parameter, its value
/// and what is allowed. Any thread.
Result<SnapshotQuestion> ReadSnapshotQuestion(const QueryValues& values);

}  // namespace seen
