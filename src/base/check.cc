#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace seen {

void CheckFailed(std::string_view what, const std::source_location& where) {
  std::fprintf(stderr, "check failed at %s:%u (%s): %.*s\n", where.file_name(), where.line(),
               where.function_name(), static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace seen
