#pragma once
// The digests of a state, one a filter, computed from the state's rows: schemas/backup.md, "Digests". The
// rows may come from a store, from a state topic or from history.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/store_port.h"
#include "model/set_digest.h"
#include "rows/descriptor.h"

namespace seen {

struct FilterDigest {
  std::string filter;
  int32_t window_days = 0;
  SetDigest set;
  friend bool operator==(const FilterDigest&, const FilterDigest&) = default;
};

struct PartitionDigest {
  int32_t partition = 0;
  int64_t next_offset = 0;  // the digest is of all records below, and of nothing else
  TimeMs partition_time;
  TimeMs as_of;
  std::vector<FilterDigest> filters;  // in the order of the descriptor
};

/// The horizon of what counts in a filter at `as_of`, as far as the state knows: it leaves out what windows
/// and times to live cut. Compactions keep a day more, so states that were compacted by the next midnight
/// still agree.
Horizon DigestHorizon(const StoreDescriptor& descriptor, const StoredFilter& filter, TimeMs as_of);

/// One thread.
class StateDigester {
 public:
  /// `position` nullopt: nothing was ever committed.
  StateDigester(const StoreDescriptor& descriptor, const std::optional<Position>& position, TimeMs as_of);

  /// Add rows in any order, each key once, folded. Skips rows that aren't sets (marks, endings, served items,
  /// positions), and the rows that resolve served items. kCorrupt: a row can't be read.
  Status Add(std::string_view key, std::string_view value);
  PartitionDigest Finish() const;

 private:
  PartitionDigest digest_;  // without filters
  std::vector<StoredFilter> filters_;
  std::vector<SetDigester> digesters_;  // by number
};

/// Adds each digest in `more` to the one of the same filter in `sum`, or appends it.
void AddDigests(const std::vector<FilterDigest>& more, std::vector<FilterDigest>& sum);

}  // namespace seen
