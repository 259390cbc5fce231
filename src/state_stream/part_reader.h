#pragma once
// Reads the records of one run or base into its rows.

#include <cstdint>
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

}  // namespace seen
