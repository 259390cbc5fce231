#pragma once
// A file that is taken as one text.

#include <string>

#include "base/result.h"

namespace seen {

/// `path`: "-" is the standard input. kInvalidArgument, naming the path and why.
Result<std::string> ReadWhole(const std::string& path);

}  // namespace seen
