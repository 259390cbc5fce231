#pragma once
// What HTTP asks of the partitions' state as a whole: digests, and copies for a backup. Implemented by
// app/state_copies.h; faked in serve's tests.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "rows/state_digest.h"

namespace seen {

struct DigestQuestion {
  int32_t partition = 0;
  std::optional<TimeMs> as_of;  // nullopt: as in the digest under way; if there is none, now
  std::string copy;             // answers from that copy's state; empty: from the present state
};

struct CopiedPartition {
  int32_t partition = 0;
  std::string folder;  // in the copy's folder
};

/// Links to all files of the open partitions, as they were at one moment each.
struct StateCopy {
  std::string id;
  std::string folder;
  std::string topic;
  std::string partitioner;
  int32_t partitions_total = 0;
  std::vector<CopiedPartition> partitions;
};

/// Any thread. No call waits for long.
class StateCopiesPort {
 public:
  virtual ~StateCopiesPort() = default;
  /// nullopt: the digest is under way; ask again. kUnavailable: another digest is under way, or the partition
  /// isn't open here. kNotFound: there is no such copy, or the copy doesn't have the partition.
  virtual Result<std::optional<PartitionDigest>> Digest(const DigestQuestion& question) = 0;
  /// kUnavailable: there is a copy that somebody still uses. kNoSpace.
  virtual Result<StateCopy> Copy() = 0;
  /// kNotFound: there is no copy with that id.
  virtual Status Release(std::string_view copy) = 0;
};

}  // namespace seen
