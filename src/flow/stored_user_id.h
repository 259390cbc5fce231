#pragma once

#include <string>

#include "base/result.h"
#include "flow/store_port.h"

namespace seen {

/// The id of a user whom no tail knows: from the mark, else from the state, else from the kept last published
/// snapshot. Empty: none has it.
Result<std::string> StoredUserId(const PartitionStore& store, const UserRef& user);

}  // namespace seen
