#pragma once
// The journal as the flow and its store know it: rows of users, by the UTC day of their events.
// model/journal_row.h has the contents of a row. A user, time and offset identify a row, so writing it again
// changes nothing.

#include <atomic>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "model/day.h"

namespace seen {

/// Where a row stands among its user's rows, newest first.
struct JournalPlace {
  TimeMs at;
  int64_t offset = 0;  // of the event's record
  friend bool operator==(const JournalPlace&, const JournalPlace&) = default;

  bool IsBefore(const JournalPlace& other) const {
    return at.value != other.at.value ? at.value > other.at.value : offset > other.offset;
  }
};

/// Returns false to get no more rows.
using VisitJournalRow = std::function<bool(const JournalPlace& place, std::string_view row)>;

struct JournalDay {
  Day day;
  uint64_t bytes = 0;  // on disk
};

/// store.explain_mib, which a daemon's partitions share: which days of the journal must be dropped. Any
/// thread.
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
