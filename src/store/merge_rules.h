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
#include "store/descriptor.h"

namespace seen {

/// RocksDB may begin to compact before the descriptor, which is in RocksDB, has been read: its threads wait
/// here until the rules are loaded. From then on nobody waits. Thread-safe.
class MergeRules {
 public:
  /// Once. All filters that the store's descriptor has; none where it can't be read: every merge fails then.
  void Load(const std::vector<StoredFilter>& filters) {
    Check(!IsLoaded(), "merge rules are loaded once");
    rules_ = std::make_unique<Rule[]>(filters.size());
    for (size_t i = 0; i < filters.size(); ++i) rules_[i].limits = filters[i].limits;
    count_.store(static_cast<int64_t>(filters.size()), std::memory_order_release);
    count_.notify_all();
  }
  bool IsLoaded() const { return count_.load(std::memory_order_acquire) != kNotLoaded; }

  /// Waits until the rules are loaded.
  bool Knows(FilterId filter) const {
    count_.wait(kNotLoaded, std::memory_order_acquire);
    return filter < count_.load(std::memory_order_acquire);
  }

  // The rest only for a filter that Knows().
  const DeltaLimits& LimitsOf(FilterId filter) const { return rules_[filter].limits; }
  /// Before the first SetHorizon, and for a filter that isn't configured: a day before all others.
  Day HorizonOf(FilterId filter) const { return {rules_[filter].horizon.load(std::memory_order_relaxed)}; }
  void SetHorizon(FilterId filter, Day day) {
    rules_[filter].horizon.store(day.since_epoch, std::memory_order_relaxed);
  }

 private:
  static constexpr int64_t kNotLoaded = -1;
  struct Rule {
    DeltaLimits limits;
    std::atomic<int32_t> horizon{std::numeric_limits<int32_t>::min()};
  };
  std::atomic<int64_t> count_{kNotLoaded};
  std::unique_ptr<Rule[]> rules_;  // written before count_
};

}  // namespace seen
