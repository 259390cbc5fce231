#include "flow/rendered_day.h"

#include <algorithm>

namespace seen {
namespace {
constexpr int64_t kAnnouncedMs = 5 * 60 * 1000;
}  // namespace

RenderedDay::RenderedDay(bool is_new) : allowed_(is_new ? kAny : kNone) {}

void RenderedDay::Opened(std::optional<Day> stored) {
  if (!stored) return;
  const MutexLock lock(mutex_);
  rendered_ = *stored;
  allowed_ = *stored;
}

bool RenderedDay::MayRender(Day day, Instant now) {
  const MutexLock lock(mutex_);
  if (day > allowed_) {
    awaits_checkpoint_.store(true, std::memory_order_release);
    return false;
  }
  rendered_ = std::max(rendered_, day);
  if (day != step_) before_at_ = step_at_;
  step_ = day;
  step_at_ = now;
  return true;
}

void RenderedDay::Rendered(Instant now) {
  const MutexLock lock(mutex_);
  step_at_ = now;
}

bool RenderedDay::IsAfter(Day today) const {
  const MutexLock lock(mutex_);
  return rendered_ > today;
}

Instant RenderedDay::LastOfAnother(Day day) const {
  const MutexLock lock(mutex_);
  return step_ == day ? before_at_ : step_at_;
}

void RenderedDay::BackTo(Day today) {
  const MutexLock lock(mutex_);
  rendered_ = std::min(rendered_, today);
  allowed_ = std::min(allowed_, today);
  written_ = std::min(written_, today);
}

// Until the store has the written day, snapshots keep to the lesser of both days. So only BackTo lowers the
// day.
Day RenderedDay::Begin(TimeMs wall) {
  const MutexLock lock(mutex_);
  awaits_checkpoint_.store(false, std::memory_order_release);
  written_ = std::max(rendered_, DayOf({wall.value + kAnnouncedMs}));
  if (allowed_ != kAny) written_ = std::max(written_, allowed_);
  allowed_ = std::min(allowed_, written_);
  return written_;
}

void RenderedDay::Committed() {
  const MutexLock lock(mutex_);
  allowed_ = written_;
}

}  // namespace seen
