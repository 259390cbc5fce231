#include "rocks/status.h"

#include <fmt/format.h>

namespace seen {

Error ToError(const rocksdb::Status& status, std::string_view what) {
  if (status.IsNoSpace()) {
    return {Code::kNoSpace,
            fmt::format("{}: no space left on the disk of store.directory: {}", what, status.ToString())};
  }
  if (status.IsCorruption()) {
    return {Code::kCorrupt, fmt::format("{}: {}. Remedy: check the disk, then start with --rebuild", what,
                                        status.ToString())};
  }
  return {Code::kUnavailable, fmt::format("{}: {}", what, status.ToString())};
}

}  // namespace seen
