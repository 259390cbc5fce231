#pragma once
// How old a partition's state is.

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>

#include "base/clock.h"
#include "base/mutex.h"

namespace seen {

/// The age of a state is the time since the state last held everything that was in the log.
///
/// The daemon asks the brokers for the log's end several times a second. An answer E to a question asked at T
/// means: whoever has read up to E holds everything that was in the log at T. So the age is the time since
/// the latest T whose E has been read. Only questions count, and they count from the time they were asked:
/// an end that comes with fetched records may have waited in a queue while the process stood still.
///
/// Thread-safe. `now` and `asked_at` come from one clock, which also runs while the machine is suspended.
class Freshness {
 public:
  /// The log's end counts as known for this long after a question was asked.
  static constexpr std::chrono::seconds kEndKnownFor{1};

  struct Reading {
    bool end_is_known = false;                     // then the lag is known, too
    std::optional<std::chrono::milliseconds> age;  // nullopt: the reader has reached no end since the opening
  };

  /// The brokers, asked at `asked_at`, said that the log ends at `end`. All below `next_offset` is read.
  void EndConfirmed(int64_t end, Instant asked_at, int64_t next_offset);
  /// All below `next_offset` is read.
  Reading At(Instant now, int64_t next_offset) const;

 private:
  struct End {
    int64_t offset = 0;
    Instant asked_at;
  };
  std::optional<Instant> HeldAllAt(int64_t next_offset) const REQUIRES(mutex_);

  // Ends that were confirmed between these two are not kept: reached or not, they say less than the newest
  // end.
  mutable Mutex mutex_;
  std::optional<End> awaited_ GUARDED_BY(mutex_);  // oldest end not reached when the newest was confirmed
  std::optional<End> newest_ GUARDED_BY(mutex_);
  std::optional<Instant> held_all_at_ GUARDED_BY(mutex_);  // from an end before these two
};

inline void Freshness::EndConfirmed(int64_t end, Instant asked_at, int64_t next_offset) {
  const MutexLock lock(mutex_);
  if (newest_ && asked_at < newest_->asked_at) return;  // a newer answer has overtaken this one
  held_all_at_ = HeldAllAt(next_offset);
  // In a stream that never stands still, the newest end is always ahead of the reader. So an older end is
  // kept until the reader reaches it.
  if (awaited_ && next_offset >= awaited_->offset) awaited_.reset();
  if (!awaited_ && newest_ && next_offset < newest_->offset) awaited_ = newest_;
  newest_ = End{end, asked_at};
}

inline Freshness::Reading Freshness::At(Instant now, int64_t next_offset) const {
  const MutexLock lock(mutex_);
  Reading reading;
  reading.end_is_known = newest_ && now - newest_->asked_at <= kEndKnownFor;
  if (const auto held_all_at = HeldAllAt(next_offset)) {
    // Rounded up: an answer is never older than it says.
    reading.age = std::max(std::chrono::ceil<std::chrono::milliseconds>(now - *held_all_at),
                           std::chrono::milliseconds(0));
  }
  return reading;
}

inline std::optional<Instant> Freshness::HeldAllAt(int64_t next_offset) const {
  if (newest_ && next_offset >= newest_->offset) return newest_->asked_at;
  if (awaited_ && next_offset >= awaited_->offset) return awaited_->asked_at;
  return held_all_at_;
}

}  // namespace seen
