#include "base/result.h"

#include <cstdio>
#include <cstdlib>

namespace seen {

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kInvalidArgument:
      return "invalid argument";
    case Code::kNotFound:
      return "not found";
    case Code::kMalformed:
      return "malformed";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kDenied:
      return "denied";
    case Code::kNoSpace:
      return "no space";
    case Code::kCorrupt:
      return "corrupt";
    case Code::kRefused:
      return "refused";
  }
  return "unknown";
}

void CheckFailed(std::string_view what, const std::source_location& where) {
  std::fprintf(stderr, "check failed at %s:%u (%s): %.*s\n", where.file_name(), where.line(),
               where.function_name(), static_cast<int>(what.size()), what.data());
  std::abort();
}

}  // namespace seen
