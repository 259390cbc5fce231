#pragma once
// The changes of several checkpoints as one: a row a key. So a minute of a user's changes travels as one row,
// and a restore writes it once.

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
  /// How many items a day a filter keeps: DeltaLimits. A filter that isn't known is an error of the rows.
  using LimitsOf = std::function<const DeltaLimits*(FilterId)>;

  /// Later than those that were added before.
  void Add(RowBatch batch);
  bool empty() const { return batches_.empty(); }
  /// Of memory.
  uint64_t bytes() const { return bytes_; }
  void Clear();

  /// Gives `visit` what the batches amount to: first the ranges, then a row a key, each ascending. A row's
  /// views are valid during the call. An error of `visit` ends it. kCorrupt: a row isn't a delta. The fold
  /// stays as it is.
  using Visit = std::function<Status(const Row&)>;
  Status ForEach(const LimitsOf& limits_of, const Visit& visit) const;

 private:
  std::vector<Row> JoinedRanges() const;
  bool IsDeletedAfter(size_t batch_number, std::string_view key) const;

  std::vector<RowBatch> batches_;
  uint64_t bytes_ = 0;
};

}  // namespace seen
