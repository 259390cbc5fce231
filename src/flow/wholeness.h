#pragma once
// Since when each filter of a partition is whole: everything in the log since then is in its state. A filter
// isn't whole if its state was built from a log without its beginning, if a lost range was skipped, or if the
// filter was added later. It becomes whole once its longest window has passed.
//
// The times are record timestamps. The time is that of the first record after the missing ones, or the
// partition time before it, whichever is later.
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
  /// Whether the next record must say since when the state is whole.
  bool awaits_record() const { return awaits_record_.load(std::memory_order_relaxed); }
  void FirstRecord(TimeMs timestamp);

  // Any thread.
  /// How often records turned out to be missing.
  uint64_t losses() const { return losses_.load(std::memory_order_acquire); }
  /// The log was read again for the filter: its state holds everything since `complete_since`. `losses`: the
  /// count before that reading. If records were lost meanwhile, nothing happens.
  void Filled(FilterIndex filter_index, TimeMs complete_since, uint64_t losses);
  /// Since when the state holds everything; nullopt: the filter is whole at `now`. Returns `now` itself while
  /// no record was read since the loss.
  std::optional<TimeMs> IncompleteSince(FilterIndex filter_index, TimeMs now) const;
  LastPublished last_published(FilterIndex filter_index) const;
  void SetLastPublished(FilterIndex filter_index, LastPublished where);
  bool HasChanges() const { return has_changes_.load(std::memory_order_acquire); }
  /// What the checkpoint must write.
  std::vector<FilterWholeness> Take();
  /// The same. The next checkpoint writes it, too.
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
