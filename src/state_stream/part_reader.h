#pragma once
// Reads the records of one run or base into its rows.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "rows/row_batch.h"
#include "state_stream/state_record.h"

namespace seen {

/// One thread at a time.
class PartReader {
 public:
  /// `head`: part 0 of the run or base.
  explicit PartReader(const StatePart& head) : first_(head) {}

  const StatePart& first() const { return first_; }
  bool is_whole() const { return whole_; }

  /// Takes the next part, and adds rows to `rows` once their block is whole. kMalformed: `part` isn't the
  /// next part, so its run or base will never be whole. kCorrupt: the block can't be read.
  Status Take(const ReadStatePart& part, RowBatch& rows);

 private:
  const StatePart first_;
  uint32_t next_part_ = 0;
  bool whole_ = false;
  std::string block_;  // the block's bytes so far
};

// Decides which runs of a state topic count, and returns their rows. So a reader ignores what a former owner
// still writes, without transactions.

/// A run counts if it names the last opening before it and is whole. The run must also begin at or before the
/// position held, and end at or after that position. One thread at a time.
class RunReader {
 public:
  /// `epoch`: of the last opening before the first record taken. kNoOffset: the epoch isn't known, so no run
  /// counts before the next opening. `held`: the position of the state that the runs are for.
  RunReader(int64_t epoch, int64_t held) : epoch_(epoch), held_(held) {}

  struct Run {
    int64_t from = 0;
    int64_t to = 0;
    std::vector<VerifiedOutput> verified;
    RowBatch rows;
  };
  /// Takes the records in their order. Returns a run that counts, with its last part. kRefused, kMalformed,
  /// kCorrupt: as in DecodeStateRecord and PartReader. The run that the record belongs to doesn't count then,
  /// and reading may go on.
  Result<std::optional<Run>> Take(int64_t offset, std::string_view record);

  /// The position held: the next run has to span it.
  int64_t held() const { return held_; }
  int64_t epoch() const { return epoch_; }
  /// Records of a newer version, or damaged ones. The input holds what these records held.
  uint64_t unreadable() const { return unreadable_; }
  /// Parts of runs whose epoch isn't that of the last opening.
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
