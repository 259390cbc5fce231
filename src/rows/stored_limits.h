#pragma once
// How many items a day each filter of a descriptor keeps. Composing deltas needs these limits.

#include <limits>
#include <utility>
#include <vector>

#include "flow/store_port.h"
#include "model/delta.h"
#include "rows/descriptor.h"

namespace seen {

/// Pure, any thread.
class StoredLimits {
 public:
  explicit StoredLimits(const std::vector<StoredFilter>& filters) {
    for (const StoredFilter& filter : filters) limits_.push_back(filter.limits);
    resolving_.items_per_day_max = std::numeric_limits<uint32_t>::max();
  }
  /// `limits`: indexed by filter number.
  explicit StoredLimits(std::vector<DeltaLimits> limits) : limits_(std::move(limits)) {
    resolving_.items_per_day_max = std::numeric_limits<uint32_t>::max();
  }
  /// nullptr: there is no such filter.
  const DeltaLimits* Of(FilterId filter) const {
    if (filter == kResolvingFilter) return &resolving_;
    return filter.number() < limits_.size() ? &limits_[filter.number()] : nullptr;
  }

 private:
  std::vector<DeltaLimits> limits_;  // by number
  DeltaLimits resolving_;
};

}  // namespace seen
