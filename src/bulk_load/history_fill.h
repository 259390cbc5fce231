#pragma once
// What a partition's log gives one filter: the partition's own flow over records that are read again, for
// that filter alone. The rows that come of it go beneath what the store has: flow/partition_fill.h.

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "bulk_load/build_totals.h"
#include "bulk_load/partition_builder.h"
#include "flow/log_port.h"
#include "flow/partition_fill.h"
#include "flow/partition_options.h"

namespace seen {

/// One thread at a time; totals: any.
class HistoryFill {
 public:
  struct Options {
    FilterIndex filter;
    int64_t from = 0;           // offset at which reading begins
    std::string folder;         // for files of sorted rows; exists
    uint64_t memory_bytes = 0;  // tail and rows; what doesn't fit is sorted in files
    size_t page_bytes = 4 << 20;
  };
  /// `flow`: as the partition is configured. `clock` outlives this.
  HistoryFill(const PartitionOptions& flow, const Options& options, const Clock& clock);

  /// Records in the log's order. What can't be decoded is left out: it was dead-lettered when it was live.
  /// kNoSpace, kUnavailable: of the files.
  Status Apply(std::span<const Record> records);

  /// After the last Apply, once. An error of `write` ends it.
  using WritePage = std::function<Status(const FillPage& page)>;
  Status ForEachPage(const WritePage& write);

  /// Since when what was read holds everything; 0: since ever; nullopt: nothing was read. After ForEachPage.
  std::optional<TimeMs> complete_since() const;
  int64_t next_offset() const { return builder_.next_offset(); }
  uint64_t records() const { return totals_.records.load(std::memory_order_relaxed); }

 private:
  /// Takes and forgets.
  class Forgotten final : public DeadLetterSink {
   public:
    bool TrySend(const DeadLetter&) override { return true; }
    int64_t OldestUnacknowledged(int32_t) const override { return -1; }
    void Forget(int32_t) override {}
  };
  class Pages;

  const Options options_;
  const FilterId filter_;
  BuildTotals totals_;
  Forgotten letters_;
  PartitionBuilder builder_;
};

}  // namespace seen
