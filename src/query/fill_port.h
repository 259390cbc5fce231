#pragma once
// Fills, as HTTP asks for them. For a fill, the daemon reads its partitions' log again for one filter.
// Implemented by app/fills.h; faked in serve's tests.

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
  std::optional<TimeMs> complete_since;  // once done: since when the filter holds everything; 0: since ever
  std::string problem;                   // of the last try; empty: none
};

/// The fill of one filter.
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
  std::vector<FillStatus> fills;  // since the start, the last one of each filter
  uint64_t records = 0;           // read since the start
  uint64_t users = 0;             // written since the start
};

/// Any thread. No call waits for long.
class FillPort {
 public:
  virtual ~FillPort() = default;
  /// Fills all partitions that are open here. If a fill of the filter with this id exists, only the
  /// partitions that it lacks are added. A fill with another id replaces the filter's fill. `id` empty: the
  /// daemon chooses one. kNotFound: no such filter. kUnavailable: no partition is open. kNoSpace.
  virtual Result<FillStatus> Start(std::string_view filter, std::string_view id) = 0;
  /// Stops the filter's fill; what it wrote stays. kNotFound: the filter has no fill.
  virtual Result<FillStatus> Stop(std::string_view filter) = 0;
  virtual FillFigures Figures() const = 0;
};

}  // namespace seen
