#pragma once
// An external sort of one partition's rows: the changes of its checkpoints in log order, folded in memory,
// written to files where memory ends, and read back as one row a key.
// Source: Knuth, The Art of Computer Programming, volume 3, section 5.4.1 (multiway merging).

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/horizon.h"
#include "rows/row_batch.h"
#include "rows/row_fold.h"
#include "rows/stored_limits.h"

namespace seen {

/// One thread at a time.
class SortedRuns {
 public:
  /// `folder`: exists, and takes files named `name`-N, which go with this.
  SortedRuns(std::string folder, std::string name, StoredLimits limits);
  ~SortedRuns();
  SortedRuns(const SortedRuns&) = delete;
  SortedRuns& operator=(const SortedRuns&) = delete;

  /// Later than those that were added before.
  void Add(RowBatch changes) { fold_.Add(std::move(changes)); }
  /// In memory.
  uint64_t bytes() const { return fold_.bytes(); }
  /// Of the files.
  uint64_t stored_bytes() const { return stored_bytes_; }

  /// What is in memory goes to a file. kNoSpace, kUnavailable.
  Status Spill();

  /// All that was added, as one state: puts, ascending; `horizon_of` says what of a user's delta has expired.
  /// An error of `visit` ends it. kCorrupt, kNoSpace, kUnavailable. Nothing is added after it.
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
