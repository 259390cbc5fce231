#pragma once
// What may go because the state topic can restore without it: records that a newer base has replaced, and
// copies of partitions that other daemons own now.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "state_stream/state_port.h"
#include "state_stream/state_record.h"

namespace seen {

/// Says which records of the state topic may go: those before a base that has been whole for `after`. Until
/// then a restore may still read an older base. One thread.
class StreamTrimmer {
 public:
  explicit StreamTrimmer(std::chrono::milliseconds after) : after_(after) {}

  /// `bases`: of each partition that this daemon streams, where its newest whole base begins, or kNoOffset.
  /// Returns, by partition, the offset before which all records may be deleted. Looks at most once a minute.
  std::map<int32_t, int64_t> Due(const std::map<int32_t, int64_t>& bases, Instant now);
  /// The records before these offsets were deleted. What isn't reported is due again.
  void Trimmed(const std::map<int32_t, int64_t>& before);

 private:
  struct Partition {
    std::map<int64_t, Instant> whole_since;  // since when each base is whole, by its first offset
    int64_t trimmed_to = kNoOffset;
  };
  const std::chrono::milliseconds after_;
  std::map<int32_t, Partition> partitions_;
  Instant looked_at_{};
};

/// The folder of a partition that another daemon owns now. It makes a later restore short, but takes disk
/// space.
struct KeptCopy {
  int32_t partition = 0;
  int64_t written = 0;  // when; only the order of two copies means anything
  uint64_t bytes = 0;
};

/// Removes the oldest copies until the rest takes at most `bytes_max`. `remove` returns false if a copy must
/// stay; then the next one goes. Returns the bytes of the rest.
uint64_t RemoveOldest(std::vector<KeptCopy> copies, uint64_t bytes_max,
                      const std::function<bool(const KeptCopy&)>& remove);

/// Whether a restore of the partition reaches `position` by the records before `end`. kUnavailable.
Result<bool> RestoreReaches(StateLog& log, int32_t partition, int64_t end, int64_t position);

}  // namespace seen
