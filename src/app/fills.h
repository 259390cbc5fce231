#pragma once
// Fills in the daemon: consume/fill_queue.h decides which partition is next, and app/fill_run.h fills it.
// Then a filter that was added, or whose window grew, has its history. A fill writes nothing into the input
// topic.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/fill_run.h"
#include "base/clock.h"
#include "base/result.h"
#include "base/threads.h"
#include "consume/fill_queue.h"
#include "flow/open_partition.h"
#include "serve/operator_ports.h"

namespace seen {

// The list of fills is a file beside the stores.

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
  Result<FillStatus> Stop(std::string_view filter) override { return queue_.Stop(filter); }
  FillFigures Figures() const override;

 private:
  std::string Path() const;
  std::vector<FillRequest> Known() const;
  std::optional<size_t> IndexOf(std::string_view filter) const;
  std::chrono::milliseconds Step();
  bool IsElsewhere(int32_t partition) const;

  const FillRun::Options options_;
  const OpenPartitions& partitions_;
  const Hooks hooks_;
  const Clock& clock_;
  FillQueue queue_;
  FillTotals totals_;
  RepeatingThread thread_;  // ends before the other members are destroyed
};

}  // namespace seen
