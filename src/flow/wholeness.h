#pragma once
// Since when each filter of a partition is whole: everything in the log since then is in its state. State
// that was built from a log without its beginning, that skipped a lost range, or whose filter was added
// later, isn't whole before the filter's longest window has passed.
//
// It goes by record timestamps. The first record after what is missing says the time, or the partition time
// before it, whichever is later.
//
// Threads: the worker changes it, any thread reads.

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "flow/filter_policy.h"
#include "flow/store_port.h"

namespace seen {

class Wholeness {
 public:
  /// `stored`: nullopt for a new store, whose state begins at `start_offset` of the log.
  Wholeness(std::span<const FilterPolicy> filters, const std::optional<Position>& stored,
            int64_t start_offset);

  // Worker.
  /// Records before the next one are missing. `all`: nothing was read before, either.
  void Lost(TimeMs partition_time, bool all);
  /// The next record will say how much is missing.
  bool awaits_record() const { return awaits_record_.load(std::memory_order_relaxed); }
  void FirstRecord(TimeMs timestamp);

  // Any thread.
  /// How often records turned out to be missing.
  uint64_t losses() const { return losses_.load(std::memory_order_acquire); }
  /// The log was read again for the filter: its state holds everything since `complete_since`. Nothing
  /// happens where records were lost meanwhile: `losses` was the count before.
  void Filled(FilterIndex filter_index, TimeMs complete_since, uint64_t losses);
  /// nullopt: the filter is whole at `now`. While no record was read since, it is `now` itself.
  std::optional<TimeMs> IncompleteSince(FilterIndex filter_index, TimeMs now) const;
  LastPublished last_published(FilterIndex filter_index) const;
  void SetLastPublished(FilterIndex filter_index, LastPublished where);
  bool HasChanges() const { return has_changes_.load(std::memory_order_acquire); }
  /// As the checkpoint must write it.
  std::vector<FilterWholeness> Take();
  /// The same, and the next checkpoint writes it, too.
  std::vector<FilterWholeness> Now();

 private:
  static constexpr int64_t kAwaitsRecord = std::numeric_limits<int64_t>::max();
  FilterWholeness& At(FilterIndex filter_index) REQUIRES(mutex_);
  void Changed() REQUIRES(mutex_);

  struct Configured {
    FilterId id;
    int32_t window_days = 0;
    std::atomic<int64_t> since_ms{0};  // as in filters_, for readers
    std::atomic<LastPublished> last_published{LastPublished::kInState};
  };
  std::array<Configured, kFiltersMax> configured_;
  size_t configured_count_ = 0;
  std::atomic<bool> awaits_record_{false};
  std::atomic<bool> has_changes_{false};
  std::atomic<uint64_t> losses_{0};
  Mutex mutex_;
  std::vector<FilterWholeness> filters_ GUARDED_BY(mutex_);  // ascending
};

}  // namespace seen
