#pragma once
// A state's digests, filter by filter, from its rows: schemas/backup.md, "Digests". The rows may come from a
// store, from a state topic, or be made of history.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/set_digest.h"
#include "rows/descriptor.h"

namespace seen {

struct FilterDigest {
  std::string filter;
  int32_t window_days = 0;
  SetDigest set;
  friend bool operator==(const FilterDigest&, const FilterDigest&) = default;
};

/// What counts at `as_of` in a filter, as far as the state knows: what windows and times to live cut is left
/// out. Compactions keep a day more, so states that were compacted by the next midnight still agree.
Horizon DigestHorizon(const StoreDescriptor& descriptor, const StoredFilter& filter, TimeMs as_of);

/// One thread.
class StateDigester {
 public:
  StateDigester(const StoreDescriptor& descriptor, TimeMs as_of);

  /// In any order, each key once, folded. Rows that aren't sets (marks, endings, served items, positions) are
  /// passed over, and so is what resolves served items. kCorrupt: a row can't be read.
  Status Add(std::string_view key, std::string_view value);
  /// In the order of the descriptor.
  std::vector<FilterDigest> Finish() const;

 private:
  std::vector<StoredFilter> filters_;
  std::vector<SetDigester> digesters_;  // by number
};

/// Adds what `more` has to the filter of that name, or behind the others.
void AddDigests(const std::vector<FilterDigest>& more, std::vector<FilterDigest>& sum);

}  // namespace seen
