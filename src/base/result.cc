#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace seen {

std::string_view CodeName(Code code) {
  static constexpr std::string_view kNames[] = {"invalid argument", "not found", "malformed", "unavailable",
                                                "denied",           "no space",  "corrupt",   "refused"};
  return kNames[static_cast<size_t>(code)];
}

void CheckFailed(std::string_view what, const std::source_location& where) {
  std::fprintf(stderr, "check failed at %s:%u (%s): %.*s\n", where.file_name(), where.line(),
               where.function_name(), static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace seen
