#pragma once
// Folds the changes of several checkpoints into one row a key. So a minute of a user's changes travels as one
// row, and a restore writes it once.

#include <cstdint>
#include <functional>
#include <vector>

#include "base/result.h"
#include "model/delta.h"
#include "model/filter_number.h"
#include "rows/row_batch.h"

namespace seen {

class RowFold {
 public:
  /// How many items a day a filter keeps. nullptr: the filter is unknown, so the rows are corrupt.
  using LimitsOf = std::function<const DeltaLimits*(FilterId)>;

  /// `batch` holds later changes than the batches that were added before.
  void Add(RowBatch batch);
  bool empty() const { return batches_.empty(); }
  /// Bytes in memory.
  uint64_t bytes() const { return bytes_; }
  void Clear();

  /// Calls `visit` with the folded changes: first the ranges, then one row a key, each ascending. A row's
  /// views are valid during the call. An error of `visit` ends the loop and is returned. kCorrupt: a row that
  /// must be composed isn't a user's delta. The fold itself doesn't change.
  using Visit = std::function<Status(const Row&)>;
  Status ForEach(const LimitsOf& limits_of, const Visit& visit) const;

 private:
  std::vector<Row> JoinedRanges() const;
  bool IsDeletedAfter(size_t batch_number, std::string_view key) const;

  std::vector<RowBatch> batches_;
  uint64_t bytes_ = 0;
};

}  // namespace seen
