#pragma once
// Fills: the daemon reads partitions of the input topic again for one filter, beside the live stream. Then a
// filter that was added, or whose window grew, has its history. A fill writes nothing into the input topic.
// One partition runs at a time (app/fill_run.h), until all requested ones are done, also across restarts.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/fill_run.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/threads.h"
#include "flow/open_partition.h"
#include "serve/operator_ports.h"

namespace seen {

/// Requested fills, in a file beside the stores. After a crash the next process goes on with those that
/// aren't done, and knows those that are.
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

/// Any thread. A thread of the object's own runs the fills.
class Fills final : public FillPort {
 public:
  struct Hooks {
    std::function<void()> on_written;  // there may be something to publish
    /// True if the group has assigned this daemon's partitions, and all of them are open. Then all other
    /// partitions belong to other daemons.
    std::function<bool()> is_settled;
  };
  /// References outlive this object.
  Fills(FillRun::Options options, const OpenPartitions& partitions, Hooks hooks, const Clock& clock);
  ~Fills() override { Pause(); }
  /// Call before partitions close. The next process goes on with the fills.
  void Pause() { thread_.Stop(); }

  Result<FillStatus> Start(std::string_view filter, std::string_view id) override;
  Result<FillStatus> Stop(std::string_view filter) override;
  FillFigures Figures() const override;

 private:
  /// A request, and the state of each partition.
  struct Fill {
    FillRequest request;
    std::map<int32_t, FillPartitionStatus> partitions;
    std::map<int32_t, Instant> retry_at;
    std::map<int32_t, Instant> absent_since;  // partitions that the group has given to others
  };
  struct Task {
    std::string filter;
    std::string id;
    int32_t partition = 0;
  };
  class Observer;
  std::chrono::milliseconds Step();
  std::optional<Task> NextTask();
  bool IsElsewhere(int32_t partition) const;
  void NoteElsewhere(const Task& task);
  void NoteFailure(const Task& task, const Error& error);
  bool IsWanted(const Task& task) const;
  void Update(const Task& task, const std::function<void(FillPartitionStatus&)>& change);
  Status Save(const std::vector<FillRequest>& requests) const;
  std::vector<FillRequest> Requests() const REQUIRES(mutex_);
  std::optional<size_t> IndexOf(std::string_view filter) const;
  static FillStatus StatusOf(const Fill& fill);

  const FillRun::Options options_;
  const OpenPartitions& partitions_;
  const Hooks hooks_;
  const Clock& clock_;
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> users_{0};
  mutable Mutex mutex_;
  std::map<std::string, Fill> fills_ GUARDED_BY(mutex_);  // by filter
  RepeatingThread thread_;                                // ends before the other members are destroyed
};

}  // namespace seen
