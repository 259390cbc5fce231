#include "rocks/status.h"

#include <fmt/format.h>

namespace seen {

Error WithRemedy(Error error) {
  constexpr std::string_view kRemedy = "Remedy: ";
  if (error.code == Code::kCorrupt && error.message.find(kRemedy) == std::string::npos) {
    error.message += fmt::format(". {}check the disk, then start with --rebuild", kRemedy);
  }
  return error;
}

Error ToError(const rocksdb::Status& status, std::string_view what) {
  if (status.IsNoSpace()) {
    return {Code::kNoSpace,
            fmt::format("{}: no space left on the disk of store.directory: {}", what, status.ToString())};
  }
  if (status.IsCorruption()) {
    return WithRemedy({Code::kCorrupt, fmt::format("{}: {}", what, status.ToString())});
  }
  return {Code::kUnavailable, fmt::format("{}: {}", what, status.ToString())};
}

}  // namespace seen
