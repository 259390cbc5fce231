#pragma once
// Fills: partitions of the input topic are read again for one filter, beside the live stream. A filter that
// was added, or whose window was made longer, has its history then. Nothing is written into the input topic.
//
// One partition at a time: its log from where the filter's longest window begins up to where live reading has
// come, through a flow of its own (bulk_load/history_fill.h); then what came of it goes beneath the store's
// state, page by page (flow/partition_fill.h). Whatever fails or is killed begins that partition again, which
// changes nothing of what was written.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/fill_requests.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/repeating_thread.h"
#include "bulk_load/history_fill.h"
#include "config/config.h"
#include "flow/open_partition.h"
#include "serve/fill_port.h"

namespace seen {

/// Any thread. One of its own fills.
class Fills final : public FillPort {
 public:
  struct Options {
    const Config* config = nullptr;  // outlives this
    std::string directory;           // of the stores
    uint64_t memory_bytes = 0;       // beside the store's budget, while a fill runs
    bool seeks_by_time = true;       // the embedded broker can't
  };
  /// `on_written`: there may be something to publish. References outlive this.
  Fills(Options options, const OpenPartitions& partitions, std::function<void()> on_written,
        const Clock& clock);
  ~Fills() override { Pause(); }
  /// Before partitions close; the next process goes on.
  void Pause() { thread_.Stop(); }

  Result<FillStatus> Start(std::string_view filter, std::string_view id) override;
  Result<FillStatus> Stop(std::string_view filter) override;
  FillFigures Figures() const override;

 private:
  /// What was asked for, and how far each partition is.
  struct Fill {
    FillRequest request;
    std::map<int32_t, FillPartitionStatus> partitions;
    std::map<int32_t, Instant> retry_at;
  };
  struct Task {
    std::string filter;
    std::string id;
    int32_t partition = 0;
  };
  /// Where a partition is read again, and from what it is filled.
  struct Source {
    PartitionOptions flow;
    FilterIndex filter;
    std::weak_ptr<OpenPartition> open;
    TimeMs since;         // no older record counts
    int64_t to = 0;       // where live reading has come
    uint64_t losses = 0;  // of live reading
  };
  std::chrono::milliseconds Step();
  std::optional<Task> NextTask();
  Status Run(const Task& task);
  Result<Source> SourceOf(const Task& task) const;
  /// In the checkpoint role of the partition, once its store can take it.
  Status Write(const Task& task, const Source& source,
               const std::function<Status(PartitionFill&)>& write) const;
  Status WritePage(const Task& task, const Source& source, const FillPage& page);
  bool IsWanted(const Task& task) const;
  void Update(const Task& task, const std::function<void(FillPartitionStatus&)>& change);
  Status Save(const std::vector<FillRequest>& requests) const;
  std::vector<FillRequest> Requests() const REQUIRES(mutex_);
  std::optional<size_t> IndexOf(std::string_view filter) const;
  static FillStatus StatusOf(const Fill& fill);

  const Options options_;
  const OpenPartitions& partitions_;
  const std::function<void()> on_written_;
  const Clock& clock_;
  std::atomic<uint64_t> records_{0};
  std::atomic<uint64_t> users_{0};
  mutable Mutex mutex_;
  std::map<std::string, Fill> fills_ GUARDED_BY(mutex_);  // by filter
  RepeatingThread thread_;                                // ends before the rest goes
};

}  // namespace seen
