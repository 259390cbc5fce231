#pragma once
// One partition, read again for one filter: its log from where the filter's longest window begins up to where
// live reading has come, through a flow of its own (bulk_load/history_fill.h); then what came of it goes
// beneath the store's state, page by page (flow/partition_fill.h). Whatever fails or is killed begins again,
// which changes nothing of what was written.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "bulk_load/history_fill.h"
#include "config/config.h"
#include "flow/open_partition.h"
#include "kafka/reader.h"
#include "serve/fill_port.h"

namespace seen {

/// Hears how far a run is, and says whether it goes on.
class FillObserver {
 public:
  virtual ~FillObserver() = default;
  virtual bool IsWanted() const = 0;
  virtual void Show(const FillPartitionStatus& status) = 0;
  virtual void Count(uint64_t records, uint64_t users) = 0;
};

/// One thread.
class FillRun {
 public:
  struct Options {
    const Config* config = nullptr;  // outlives this
    std::string directory;           // of the stores
    uint64_t memory_bytes = 0;       // of one run, beside the store's budget
    bool seeks_by_time = true;       // the embedded broker can't
  };
  /// References outlive this.
  FillRun(const Options& options, const OpenPartitions& partitions, FilterIndex filter, int32_t partition,
          const Clock& clock, FillObserver& observer);

  /// kUnavailable, kNoSpace: try again. kNotFound: nobody wants it any more.
  Status Run();

 private:
  Status FindPartition();
  Status OpenLog();
  Status Read(HistoryFill& fill);
  Status Write(HistoryFill& fill);
  /// In the partition's checkpoint role, once its store can take it.
  Status InStore(const std::function<Status(PartitionFill&)>& write);
  void Show(std::string_view state);

  const Options& options_;
  const OpenPartitions& partitions_;
  const FilterIndex filter_;
  const Clock& clock_;
  FillObserver& observer_;
  FillPartitionStatus status_;

  std::weak_ptr<OpenPartition> open_;
  PartitionOptions flow_;
  TimeMs since_;         // no older record counts
  uint64_t losses_ = 0;  // of live reading, before
  std::unique_ptr<TopicReader> log_;
  bool reaches_since_ = false;  // the log holds records from before `since_`
};

}  // namespace seen
