#pragma once
// Builds one partition's state from its history: the daemon's flow, over a store that collects.

#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "bulk_load/change_collector.h"
#include "bulk_load/sorted_runs.h"
#include "flow/log_port.h"
#include "flow/partition_flow.h"
#include "flow/reporter.h"

namespace seen {

/// One thread at a time.
class PartitionBuilder {
 public:
  /// `folder`: for files of sorted rows. `from`: at most the first record's offset. `letters` accepts and
  /// acknowledges each letter at once. The references outlive this object.
  PartitionBuilder(PartitionOptions options, StoredLimits limits, const std::string& folder, int64_t from,
                   DeadLetterSink& letters, Reporter& reporter, const Clock& clock);

  /// Records in the log's order.
  Status Apply(std::span<const Record> records);
  /// Turns the tail into rows.
  Status Checkpoint();

  SortedRuns& runs() { return runs_; }
  int64_t next_offset() const { return flow_.state.next_offset(); }
  /// The position of the last checkpoint.
  const Position& position() const { return collector_.position(); }
  Horizon HorizonOf(FilterId filter) const { return collector_.HorizonOf(filter); }

 private:
  SortedRuns runs_;
  ChangeCollector collector_;
  PartitionFlow flow_;
};

}  // namespace seen
