#include "flow/freshness.h"

#include <algorithm>

namespace seen {

void Freshness::EndConfirmed(int64_t end, Instant asked_at, int64_t next_offset) {
  const MutexLock lock(mutex_);
  if (newest_ && asked_at < newest_->asked_at) return;  // a newer answer has overtaken this one
  held_all_at_ = HeldAllAt(next_offset);
  // In a stream that never stands still, the newest end is always ahead of the reader. So an older end is
  // kept until the reader reaches it.
  if (awaited_ && next_offset >= awaited_->offset) awaited_.reset();
  if (!awaited_ && newest_ && next_offset < newest_->offset) awaited_ = newest_;
  newest_ = End{end, asked_at};
}

Freshness::Reading Freshness::At(Instant now, int64_t next_offset) const {
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

std::optional<Instant> Freshness::HeldAllAt(int64_t next_offset) const {
  if (newest_ && next_offset >= newest_->offset) return newest_->asked_at;
  if (awaited_ && next_offset >= awaited_->offset) return awaited_->asked_at;
  return held_all_at_;
}

}  // namespace seen
