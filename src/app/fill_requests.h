#pragma once
// The fills that were asked for and aren't done, in a file beside the stores: a daemon that was killed goes
// on with them.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace seen {

struct FillRequest {
  std::string filter;
  std::string id;
  TimeMs asked_at;
  std::set<int32_t> partitions;
  friend bool operator==(const FillRequest&, const FillRequest&) = default;
};

/// Empty where the file is missing. kCorrupt: it holds something else.
Result<std::vector<FillRequest>> ReadFillRequests(const std::string& path);
/// All or nothing, and durable when it returns. kNoSpace, kUnavailable.
Status WriteFillRequests(const std::string& path, const std::vector<FillRequest>& requests);

}  // namespace seen
