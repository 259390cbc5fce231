#pragma once
// One partition's state from its history: the flow that the daemon runs, over a store that collects.

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
  /// `folder`: for files of sorted rows. References outlive this.
  PartitionBuilder(PartitionOptions options, StoredLimits limits, const std::string& folder,
                   Reporter& reporter, const Clock& clock);

  /// Events in the history's order; offset and `value_is_null` are set here. Every one can be decoded
  /// (checked).
  Status Apply(std::span<Record> records);
  /// What is in the tail becomes rows.
  Status Checkpoint();

  SortedRuns& runs() { return runs_; }
  uint64_t events() const { return static_cast<uint64_t>(next_offset_); }
  TimeMs partition_time() const { return collector_.position().partition_time; }
  Horizon HorizonOf(FilterId filter) const { return collector_.HorizonOf(filter); }

 private:
  /// Nothing gets so far: what can't be decoded is left out before.
  class NoLetters final : public DeadLetterSink {
   public:
    bool TrySend(const DeadLetter& letter) override;
    int64_t OldestUnacknowledged(int32_t) const override { return -1; }
    void Forget(int32_t) override {}
  };

  SortedRuns runs_;
  ChangeCollector collector_;
  NoLetters no_letters_;
  PartitionFlow flow_;
  int64_t next_offset_ = 0;
};

}  // namespace seen
