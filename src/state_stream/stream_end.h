#pragma once
// What the last records of a state topic's partition say: where bases are, who wrote, how far the owner came.

#include <cstdint>
#include <functional>
#include <set>

#include "base/result.h"
#include "state_stream/state_port.h"
#include "state_stream/state_record.h"

namespace seen {

struct StreamEnd {
  std::set<int64_t, std::greater<>> bases;  // offsets of parts 0, as any owner names them; newest first
  int64_t newest_base = kNoOffset;          // that the last owner named: it counts
  std::set<int64_t> openings;
  int64_t reaches = kNoOffset;  // the greatest position of the last owner's runs and bases that ended
  /// The greatest position that an owner had, whether a restore reaches it or not.
  int64_t owners_had = kNoOffset;

  /// For a run or base at `offset`: no other owner had begun since `epoch`.
  bool MayCount(int64_t offset, int64_t epoch) const {
    const auto next = openings.upper_bound(epoch);
    return next == openings.end() || *next > offset;
  }
};

/// Reads the last records before `before`. kUnavailable.
Result<StreamEnd> ReadStreamEnd(StateLog& log, int32_t partition, int64_t before);

}  // namespace seen
