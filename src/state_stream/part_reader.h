#pragma once
// The records of one run or base into its rows.

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
  /// Of the run or base that `head`, its part 0, belongs to.
  explicit PartReader(const StatePart& head) : first_(head) {}

  const StatePart& first() const { return first_; }
  bool is_whole() const { return whole_; }

  /// The next part's rows, put into `rows` once their block is whole. kMalformed: it isn't the next part, so
  /// what it belongs to will never be whole. kCorrupt: the block can't be read.
  Status Take(const ReadStatePart& part, RowBatch& rows);

 private:
  const StatePart first_;
  uint32_t next_part_ = 0;
  bool whole_ = false;
  std::string block_;  // what came of it so far
};

}  // namespace seen
