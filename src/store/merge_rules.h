#pragma once
// What merging and compaction must know of each filter. RocksDB's threads share it.

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

#include "base/result.h"
#include "flow/store_port.h"
#include "model/delta.h"
#include "model/horizon.h"
#include "rows/descriptor.h"

namespace seen {

/// A horizon that one thread sets and any thread reads, as a whole and without a lock. A reader reads again
/// if the horizon was being written meanwhile.
class SharedHorizon {
 public:
  SharedHorizon() { Set({}); }

  /// One thread at a time.
  void Set(const Horizon& horizon) {
    const auto words = std::bit_cast<Words>(horizon);
    const uint32_t writes = writes_.load(std::memory_order_relaxed);
    writes_.store(writes + 1, std::memory_order_relaxed);
    for (size_t i = 0; i < words.size(); ++i) words_[i].store(words[i], std::memory_order_release);
    writes_.store(writes + 2, std::memory_order_release);
  }

  /// Any thread.
  Horizon Get() const {
    for (;;) {
      const uint32_t before = writes_.load(std::memory_order_acquire);
      Words words;
      for (size_t i = 0; i < words.size(); ++i) words[i] = words_[i].load(std::memory_order_acquire);
      if (before % 2 == 0 && writes_.load(std::memory_order_relaxed) == before) {
        return std::bit_cast<Horizon>(words);
      }
    }
  }

 private:
  using Words = std::array<uint32_t, sizeof(Horizon) / sizeof(uint32_t)>;

  std::atomic<uint32_t> writes_{0};  // odd: a write is under way
  std::array<std::atomic<uint32_t>, std::tuple_size_v<Words>> words_{};
};

/// RocksDB may begin to compact before the descriptor is read, because the descriptor is in RocksDB.
/// RocksDB's threads wait here until the rules are loaded, and never afterwards. Thread-safe.
class MergeRules {
 public:
  /// Call it once. `filters`: all filters of the store's descriptor. Empty if the descriptor can't be read:
  /// every merge fails then.
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

  // Call the rest only for a filter that Knows() accepts.
  const DeltaLimits& LimitsOf(FilterId filter) const { return rules_[RuleOf(filter)].limits; }
  /// Nothing expires before the first SetHorizon, or for a filter that isn't configured.
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
  // The rule of kResolvingFilter stands behind all others.
  size_t RuleOf(FilterId filter) const {
    return filter == kResolvingFilter ? static_cast<size_t>(count_.load(std::memory_order_relaxed))
                                      : filter.number();
  }
  std::unique_ptr<Rule[]> rules_;  // written before count_
};

}  // namespace seen
