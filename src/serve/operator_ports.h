#pragma once
// What operators ask of the daemon over HTTP: digests and copies of the state, fills, and to read the
// configuration again. Implemented in app; faked in serve's tests.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "query/daemon_status.h"
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

/// Keys as the configuration's errors name them.
struct ReloadReport {
  std::vector<std::string> applied;
  std::vector<std::string> waits_for_restart;
};

/// Any thread.
class ReloadPort {
 public:
  virtual ~ReloadPort() = default;
  /// kInvalidArgument: the configuration has a mistake; nothing has changed.
  virtual Result<ReloadReport> Run() = 0;
};

}  // namespace seen
