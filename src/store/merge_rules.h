#pragma once
// What merging and compaction must know of each filter, shared with RocksDB's threads.

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/check.h"
#include "flow/store_port.h"
#include "model/delta.h"
#include "rows/descriptor.h"
#include "store/shared_horizon.h"

namespace seen {

/// RocksDB may begin to compact before the descriptor, which is in RocksDB, has been read: its threads wait
/// here until the rules are loaded. From then on nobody waits. Thread-safe.
class MergeRules {
 public:
  /// Once. All filters that the store's descriptor has; none where it can't be read: every merge fails then.
  void Load(const std::vector<StoredFilter>& filters) {
    Check(!IsLoaded(), "merge rules are loaded once");
    rules_ = std::make_unique<Rule[]>(filters.size() + 1);
    for (size_t i = 0; i < filters.size(); ++i) rules_[i].limits = filters[i].limits;
    rules_[filters.size()].limits.items_per_day_max = std::numeric_limits<uint32_t>::max();
    count_.store(static_cast<int64_t>(filters.size()), std::memory_order_release);
    count_.notify_all();
  }
  bool IsLoaded() const { return count_.load(std::memory_order_acquire) != kNotLoaded; }

  /// Waits until the rules are loaded.
  bool Knows(FilterId filter) const {
    if (!IsLoaded()) count_.wait(kNotLoaded, std::memory_order_acquire);
    const int64_t count = count_.load(std::memory_order_acquire);
    return filter.number() < count || (filter == kResolvingFilter && count > 0);
  }

  // The rest only for a filter that Knows().
  const DeltaLimits& LimitsOf(FilterId filter) const { return rules_[RuleOf(filter)].limits; }
  /// Before the first SetHorizon, and for a filter that isn't configured: nothing goes.
  Horizon HorizonOf(FilterId filter) const { return rules_[RuleOf(filter)].horizon.Get(); }
  /// One thread at a time.
  void SetHorizon(FilterId filter, const Horizon& horizon) { rules_[RuleOf(filter)].horizon.Set(horizon); }

 private:
  static constexpr int64_t kNotLoaded = -1;
  struct Rule {
    DeltaLimits limits;
    SharedHorizon horizon;
  };
  std::atomic<int64_t> count_{kNotLoaded};
  // That of kResolvingFilter stands behind all others.
  size_t RuleOf(FilterId filter) const {
    return filter == kResolvingFilter ? static_cast<size_t>(count_.load(std::memory_order_relaxed))
                                      : filter.number();
  }
  std::unique_ptr<Rule[]> rules_;  // written before count_
};

}  // namespace seen
