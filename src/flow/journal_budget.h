#pragma once
// store.explain_mib, which a daemon's partitions share: which days of the journal must be dropped. Any
// thread.

#include <atomic>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "flow/journal_port.h"

namespace seen {

class JournalBudget {
 public:
  explicit JournalBudget(uint64_t bytes_max) : bytes_max_(bytes_max) {}

  /// `days`: all that the partition has now.
  void Report(int32_t partition, std::vector<JournalDay> days);
  /// The partition was closed: its days belong to another daemon.
  void Forget(int32_t partition) { Report(partition, {}); }

  /// Each partition drops its days before this one: together with the newer days they exceed the budget. It
  /// is at most the day after the newest day, if that day alone exceeds the budget.
  Day Floor() const { return {floor_.load(std::memory_order_relaxed)}; }

 private:
  static constexpr int32_t kNone = std::numeric_limits<int32_t>::min();
  const uint64_t bytes_max_;
  std::atomic<int32_t> floor_{kNone};
  Mutex mutex_;
  std::map<int32_t, std::vector<JournalDay>> partitions_ GUARDED_BY(mutex_);
};

/// Null in PartitionOptions: no journal.
struct JournalPolicy {
  int32_t days = 0;  // how many days before today are kept
  std::shared_ptr<JournalBudget> budget;
};

}  // namespace seen
