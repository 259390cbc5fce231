#include "base/result.h"

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

}  // namespace seen
