#pragma once
// An external sort of one partition's rows. The input is the changes of the partition's checkpoints, in log
// order. SortedRuns folds the changes in memory, writes them to files when memory is full, and reads them
// back as one row per key.
// Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1 (multiway merging).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/horizon.h"
#include "rows/descriptor.h"
#include "rows/row_batch.h"
#include "rows/row_fold.h"

namespace seen {

/// One thread at a time.
class SortedRuns {
 public:
  /// `folder` exists. The files in it are named `name`-N; the destructor removes them.
  SortedRuns(std::string folder, std::string name, StoredLimits limits);
  ~SortedRuns();
  SortedRuns(const SortedRuns&) = delete;
  SortedRuns& operator=(const SortedRuns&) = delete;

  /// `changes` are later than all changes added before.
  void Add(RowBatch changes) { fold_.Add(std::move(changes)); }
  /// Bytes of the rows in memory.
  uint64_t bytes() const { return fold_.bytes(); }
  /// Bytes written to files, those of merges included.
  uint64_t stored_bytes() const { return stored_bytes_; }

  /// Writes the rows in memory to a file. kNoSpace, kUnavailable.
  Status Spill();

  /// Visits all that was added as one state: puts in ascending order. `horizon_of` says what has expired of a
  /// user's delta. An error of `visit` ends the loop. kCorrupt, kNoSpace, kUnavailable. Add nothing
  /// afterwards.
  using HorizonOf = std::function<Horizon(FilterId)>;
  Status ForEach(const HorizonOf& horizon_of, const RowFold::Visit& visit);

 private:
  class Reader;
  Status WriteRun(const std::function<Status(const RowFold::Visit&)>& rows);
  Status Merge(const std::vector<std::string>& files, const RowFold::Visit& visit) const;
  Status MergeFiles();
  const DeltaLimits* LimitsOf(FilterId filter) const { return limits_.Of(filter); }

  const std::string folder_;
  const std::string name_;
  const StoredLimits limits_;
  RowFold fold_;
  std::vector<std::string> files_;  // in log order
  uint64_t files_made_ = 0;
  uint64_t stored_bytes_ = 0;
};

}  // namespace seen
