#pragma once
// store.explain_mib, shared by a daemon's partitions: which days must go. Any thread.

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

  /// What the partition has now.
  void Report(int32_t partition, std::vector<JournalDay> days);
  /// It was closed: what it has is another's.
  void Forget(int32_t partition) { Report(partition, {}); }

  /// Whoever has days before this one drops them: together with the newer ones they are too much. At most the
  /// day after the newest, where that one alone is.
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
  int32_t days = 0;  // kept: so many before today
  std::shared_ptr<JournalBudget> budget;
};

}  // namespace seen
