#pragma once
// Reads one partition again for one filter. The run reads the log from the beginning of the filter's longest
// window up to where live reading has come. The records go through a separate flow
// (bulk_load/history_fill.h). Then the run puts the resulting rows beneath the store's state, page by page
// (flow/partition_fill.h). After a failure or a crash the run begins again. A repetition changes nothing of
// what was written.

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "bulk_load/history_fill.h"
#include "config/config.h"
#include "consume/fill_queue.h"
#include "flow/open_partition.h"
#include "kafka/topic_reader.h"
#include "query/daemon_status.h"

namespace seen {

/// Since the start. Any thread.
struct FillTotals {
  std::atomic<uint64_t> records{0};  // read
  std::atomic<uint64_t> users{0};    // written
};

/// One thread.
class FillRun {
 public:
  struct Options {
    const Config* config = nullptr;  // outlives this object
    std::string directory;           // the folder of the stores
    uint64_t memory_bytes = 0;       // for one run, on top of the store's budget
    bool seeks_by_time = true;       // the embedded broker can't
  };
  /// What the run fills, and where it reports its progress.
  struct Job {
    FillQueue::Task task;
    FillQueue& queue;
    FillTotals& totals;
    const std::atomic<bool>& stop;
    const std::function<void()>& on_written;
  };
  /// References outlive this object.
  FillRun(const Options& options, const OpenPartitions& partitions, FilterIndex filter, const Clock& clock,
          Job job);

  /// kUnavailable, kNoSpace: try again. kNotFound: the fill was stopped.
  Status Run();

 private:
  Status FindPartition();
  Status OpenLog();
  Status Read(HistoryFill& fill);
  Status Write(HistoryFill& fill);
  /// Calls `write` in the partition's checkpoint role, once the store can take more files.
  Status InStore(const std::function<Status(PartitionFill&)>& write);
  bool IsWanted() const { return !job_.stop.load() && job_.queue.IsWanted(job_.task); }
  void Show(std::string_view state);

  const Options& options_;
  const OpenPartitions& partitions_;
  const FilterIndex filter_;
  const Clock& clock_;
  const Job job_;
  FillPartitionStatus status_;

  std::weak_ptr<OpenPartition> open_;
  PartitionOptions flow_;
  TimeMs since_;               // no older record counts
  bool is_compacted_ = false;  // the topic: nobody knows which of its records are missing
  uint64_t losses_ = 0;        // losses of live reading, before the run
  std::unique_ptr<TopicReader> log_;
  bool reaches_since_ = false;  // the log holds records from before `since_`
};

}  // namespace seen
