#pragma once
// Which fill runs next. For a fill, the daemon reads partitions of the input topic again for one filter,
// beside the live stream. One partition runs at a time, until all requested ones are done, also across
// restarts:
//
//   Ask          the filter's open partitions wait; a fill with another id replaces the filter's fill
//   Next         filters by name, then partitions by number; one that failed waits for a while
//   Done         the list says so, and a restart doesn't fill the partition again
//   Elsewhere    the group gave the partition to another daemon: after a while, it leaves the fill
//
// The list of requests is saved at each change.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
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

/// What is kept of a fill. After a crash the next process goes on with the partitions that aren't done, and
/// knows those that are.
struct FillRequest {
  std::string filter;
  std::string id;
  TimeMs asked_at;
  std::set<int32_t> partitions;  // to be filled
  std::set<int32_t> done;        // filled already
  friend bool operator==(const FillRequest&, const FillRequest&) = default;
};

/// Any thread.
class FillQueue {
 public:
  struct Task {
    std::string filter;
    std::string id;
    int32_t partition = 0;
  };
  /// All or nothing, and durable when it returns.
  using Save = std::function<Status(const std::vector<FillRequest>&)>;
  /// `known`: what was saved last. `clock` outlives this object.
  FillQueue(const std::vector<FillRequest>& known, Save save, const Clock& clock);

  /// `open`: the partitions to fill. If a fill of the filter with this id exists, only the partitions that it
  /// lacks are added. `id` empty: the queue chooses one. Errors: those of Save; nothing has changed then.
  Result<FillStatus> Ask(std::string_view filter, std::string_view id, const std::set<int32_t>& open);
  /// Stops the filter's fill. kNotFound: the filter has none. Other errors: those of Save.
  Result<FillStatus> Stop(std::string_view filter);
  /// By filter.
  std::vector<FillStatus> All() const;

  std::optional<Task> Next() const;
  /// False: the fill was stopped or replaced.
  bool IsWanted(const Task& task);
  void Show(const Task& task, const FillPartitionStatus& status);
  /// The partition is this daemon's.
  void Here(const Task& task);
  void Elsewhere(const Task& task);
  void Failed(const Task& task, const Error& error);
  void Done(const Task& task);

 private:
  struct Fill {
    FillRequest request;  // `done` stays empty here: `partitions` below has the states
    std::map<int32_t, FillPartitionStatus> partitions;
    std::map<int32_t, Instant> retry_at;
    std::map<int32_t, Instant> absent_since;  // partitions that the group has given to others
  };
  /// nullptr: the fill was stopped or replaced.
  Fill* Find(const Task& task) REQUIRES(mutex_);
  static FillStatus StatusOf(const Fill& fill);
  std::vector<FillRequest> Requests() const REQUIRES(mutex_);
  void SaveOrWarn() const REQUIRES(mutex_);

  const Save save_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::map<std::string, Fill, std::less<>> fills_ GUARDED_BY(mutex_);  // by filter
};

}  // namespace seen
