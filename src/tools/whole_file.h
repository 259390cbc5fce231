#pragma once
// Reads a whole file as one text.

#include <string>

#include "base/result.h"

namespace seen {

/// `path`: "-" is the standard input. kInvalidArgument names the path and the reason.
Result<std::string> ReadWhole(const std::string& path);

}  // namespace seen
