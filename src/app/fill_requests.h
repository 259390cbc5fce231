#pragma once
// Requested fills, in a file beside the stores. After a crash the next process goes on with those that aren't
// done, and knows those that are.

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
  std::set<int32_t> partitions;  // to be filled
  std::set<int32_t> done;        // filled already
  friend bool operator==(const FillRequest&, const FillRequest&) = default;
};

/// Empty if the file is missing. kCorrupt: the file isn't a list of fills.
Result<std::vector<FillRequest>> ReadFillRequests(const std::string& path);
/// All or nothing, and durable when it returns. kNoSpace, kUnavailable.
Status WriteFillRequests(const std::string& path, const std::vector<FillRequest>& requests);

}  // namespace seen
