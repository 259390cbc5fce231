#pragma once
// Fills, as HTTP asks for them. For a fill, the daemon reads its partitions' log again for one filter.
// Implemented by app/fills.h; faked in serve's tests.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "run/fill_queue.h"

namespace seen {

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
