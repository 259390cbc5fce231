#pragma once
// The rows that a partition's log gives one filter. The partition's own flow runs over records that are read
// again, for this filter alone. The rows then go beneath the stored state: flow/partition_fill.h.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "bulk_load/partition_builder.h"
#include "flow/log_port.h"
#include "flow/partition_fill.h"
#include "flow/partition_options.h"

namespace seen {

/// One thread at a time. The totals: any thread.
class HistoryFill {
 public:
  struct Options {
    FilterIndex filter;
    int64_t from = 0;           // the offset at which reading begins
    std::string folder;         // an existing folder, for files of sorted rows
    uint64_t memory_bytes = 0;  // for tail and rows; files take the rest
    size_t page_bytes = 4 << 20;
  };
  /// `flow`: as the partition is configured. `clock` outlives this object.
  HistoryFill(const PartitionOptions& flow, const Options& options, const Clock& clock);

  /// Records in the log's order. Leaves out records that can't be decoded: they became dead letters when they
  /// were live. But the registry may have known a schema then that it doesn't know now: WhatIsMissing.
  /// kNoSpace: from the files. kUnavailable: likewise, or a record's schema isn't known yet.
  Status Apply(std::span<const Record> records);

  /// Call once, after the last Apply. An error of `write` ends the loop.
  using WritePage = std::function<Status(const FillPage& page)>;
  Status ForEachPage(const WritePage& write);

  /// The time from which on the records read hold everything; 0: from the beginning; nullopt: no records were
  /// read. Call after ForEachPage.
  std::optional<TimeMs> complete_since() const;
  /// What the partition may have counted and the fill lacks, for people, with the remedy. Empty: nothing.
  std::string WhatIsMissing() const;
  int64_t next_offset() const { return builder_.next_offset(); }
  uint64_t records() const { return totals_.records.load(std::memory_order_relaxed); }

 private:
  class Pages;

  const Options options_;
  const FilterId filter_;
  BuildTotals totals_;
  PartitionBuilder builder_;
};

}  // namespace seen
