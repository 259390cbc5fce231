#pragma once
// Decides which runs of a state topic count, and gives their rows. So a reader ignores what a former owner
// still writes, without transactions.

#include <cstdint>
#include <functional>
#include <optional>

#include "base/result.h"
#include "rows/row_batch.h"
#include "state_stream/part_reader.h"
#include "state_stream/state_record.h"

namespace seen {

/// A run counts if it names the last opening before it, is whole, and begins at or before the position held
/// and ends at or after it. One thread at a time.
class RunReader {
 public:
  /// `epoch`: of the last opening before the first record taken; kNoOffset: not known, no run counts before
  /// the next opening. `held`: the position of the state that the runs are for.
  RunReader(int64_t epoch, int64_t held) : epoch_(epoch), held_(held) {}

  struct Run {
    int64_t from = 0;
    int64_t to = 0;
    std::vector<VerifiedOutput> verified;
    RowBatch rows;
  };
  /// The records in their order. A run that counts, with its last part. kRefused, kMalformed, kCorrupt: as
  /// DecodeStateRecord and PartReader have it; the run that the record belongs to doesn't count, and reading
  /// may go on.
  Result<std::optional<Run>> Take(int64_t offset, std::string_view record);

  /// What the next run has to reach.
  int64_t held() const { return held_; }
  int64_t epoch() const { return epoch_; }
  /// Of a newer version, or damaged: what they held is read from the input instead.
  uint64_t unreadable() const { return unreadable_; }
  /// Whole runs of an epoch that had ended.
  uint64_t stale_parts() const { return stale_parts_; }

 private:
  Result<std::optional<Run>> TakePart(const ReadStatePart& part);

  int64_t epoch_;
  int64_t held_;
  std::optional<PartReader> reader_;
  RowBatch rows_;
  uint64_t unreadable_ = 0;
  uint64_t stale_parts_ = 0;
};

}  // namespace seen
