#pragma once
// Fills, as HTTP asks for them: the daemon reads its partitions' log again for one filter. Implemented by
// app/fills.h; faked in serve's tests.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace seen {

struct FillPartitionStatus {
  int32_t partition = 0;
  std::string_view state;                // "waiting", "reading", "writing", "done"; a constant
  int64_t from_offset = -1;              // -1: not known yet
  int64_t next_offset = -1;              // read up to here
  int64_t to_offset = -1;                // exclusive
  uint64_t users_written = 0;            // of the last try
  std::optional<TimeMs> complete_since;  // once done, what the filter holds everything since; 0: since ever
  std::string problem;                   // of the last try; empty: none
};

/// One filter's.
struct FillStatus {
  std::string filter;
  std::string id;
  TimeMs asked_at;
  std::vector<FillPartitionStatus> partitions;  // ascending
  bool done() const {
    for (const FillPartitionStatus& partition : partitions) {
      if (partition.state != "done") return false;
    }
    return true;
  }
};

struct FillFigures {
  std::vector<FillStatus> fills;  // asked for since the start, the last one of each filter
  uint64_t records = 0;           // read since the start
  uint64_t users = 0;             // written since the start
};

/// Any thread. Nothing waits for long.
class FillPort {
 public:
  virtual ~FillPort() = default;
  /// Of all partitions that are open here. Where a fill of the filter with this id is there already, only of
  /// those that it doesn't have. Another id takes the place of the one before; empty: the daemon names it.
  /// kNotFound: no such filter. kUnavailable: no partition is open. kNoSpace.
  virtual Result<FillStatus> Start(std::string_view filter, std::string_view id) = 0;
  /// What was written stays. kNotFound: there is none of the filter.
  virtual Result<FillStatus> Stop(std::string_view filter) = 0;
  virtual FillFigures Figures() const = 0;
};

}  // namespace seen
