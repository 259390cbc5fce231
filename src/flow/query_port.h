#pragma once
// What HTTP asks of the daemon. Implemented by app/daemon.h over the partitions' flows; faked in serve's
// tests.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/status.h"

namespace seen {

/// How far the stream had been read when an answer was made; the `Seen-As-Of` header.
struct AsOf {
  TimeMs partition_time;
  int64_t lag_messages = 0;
};

struct SnapshotAnswer {
  AsOf as_of;
  std::string bytes;
};

/// What `unseen` is asked of: item ids, in order of preference.
struct CandidateList {
  std::span<const std::string_view> ids;
  /// When the items were created, by place, in seconds since the epoch; 0: not known. Empty: of none. What
  /// ended before an item was created can't hold it. Of an id given twice the latest counts, for both.
  std::span<const uint32_t> created_seconds;
};

struct UnseenAnswer {
  AsOf as_of;
  std::vector<uint32_t> unseen;  // indices into the candidates: first occurrences, in order
};

/// One segment as `seenctl show` prints it.
struct SegmentSummary {
  std::string kind;  // "exposed"
  Day day;
  uint32_t items = 0;
  uint32_t first_second = 0;
  uint32_t last_second = 0;
  uint32_t bytes = 0;  // encoded
  bool in_window = true;
};

struct UserAnswer {
  AsOf as_of;
  int32_t partition = 0;
  uint32_t items = 0;  // that count now
  uint32_t bytes = 0;  // encoded, all of it
  uint32_t removals = 0;
  std::vector<SegmentSummary> segments;  // newest first
};

/// Any thread. Errors: kNotFound (no such filter), kUnavailable (partition not here, opening or catching up:
/// the message says which; answer 503 with Retry-After), kCorrupt.
class QueryPort {
 public:
  virtual ~QueryPort() = default;
  virtual Result<SnapshotAnswer> Snapshot(std::string_view filter, std::string_view user_id) const = 0;
  /// `also_seen`: item ids that count as seen besides the stored ones (this request's own pages).
  virtual Result<UnseenAnswer> Unseen(std::string_view filter, std::string_view user_id,
                                      const CandidateList& candidates,
                                      std::span<const std::string_view> also_seen) const = 0;
  virtual Result<UserAnswer> User(std::string_view filter, std::string_view user_id) const = 0;
  virtual DaemonStatus GetStatus() const = 0;
  /// Forgets the lost ranges of all partitions; durable with the next checkpoint.
  virtual void AcknowledgeLostRanges() = 0;
  /// Makes everybody's snapshots of all filters anew, a little at a time; how many partitions will.
  /// kNotFound: no filter publishes.
  virtual Result<size_t> PublishAll() = 0;
};

}  // namespace seen
