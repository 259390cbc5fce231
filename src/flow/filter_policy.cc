#include "flow/filter_policy.h"

#include <algorithm>

#include "model/hashes.h"

namespace seen {

SnapshotPolicy::SnapshotPolicy(SnapshotShape shape, std::chrono::milliseconds debounce)
    : state_(std::make_shared<State>()) {
  const MutexLock lock(state_->mutex);
  state_->shape = shape;
  state_->debounce = debounce;
}

SnapshotShape SnapshotPolicy::shape() const {
  const MutexLock lock(state_->mutex);
  return state_->shape;
}

std::chrono::milliseconds SnapshotPolicy::debounce() const {
  const MutexLock lock(state_->mutex);
  return state_->debounce;
}

uint32_t SnapshotPolicy::version() const { return state_->version.load(std::memory_order_acquire); }

void SnapshotPolicy::Change(const SnapshotShape& shape, std::chrono::milliseconds debounce) {
  {
    const MutexLock lock(state_->mutex);
    state_->shape = shape;
    state_->debounce = debounce;
  }
  state_->version.fetch_add(1, std::memory_order_release);
}

AnswerLimits FilterPolicy::AnswerAt(TimeMs now) const {
  AnswerLimits answer;
  answer.horizon = AnswerHorizon(now);
  answer.items_max = items_max;
  answer.delta = limits;
  answer.now_s = static_cast<uint32_t>(std::max<int64_t>(0, now.value / 1000));
  answer.declared.fill(kLastOfDays);
  for (const KindPolicy& kind : kinds) {
    answer.declared[kind.number - kDeclaredKindFirst] = DayOf(now) - kind.window_days;
  }
  answer.exposures_min = exposures_min;
  if (cooldown_days) answer.cooldown = DayOf(now) - *cooldown_days;
  answer.by_creation = window_by == WindowBy::kItemCreatedAt;
  answer.similar = similar != Similar::kOff;
  return answer;
}

int32_t FilterPolicy::LongestWindowDays() const {
  int32_t longest = window_days;
  for (const KindPolicy& kind : kinds) longest = std::max(longest, kind.window_days);
  return longest;
}

Horizon FilterPolicy::ByteHorizon(TimeMs wall, TimeMs partition_time, Day swept_through) const {
  const TimeMs now = std::min(wall, partition_time);
  const Day today = DayOf(now);
  Horizon horizon;
  horizon.exposed = today - window_days - 1;
  horizon.by_creation = horizon.exposed;
  horizon.taken_back = horizon.exposed;
  // The store keeps a served segment one width longer than it counts, so that a reader whose clock is behind
  // still finds it.
  horizon.served_second =
      static_cast<uint32_t>(std::max<int64_t>(0, now.value / 1000 - int64_t{limits.served_width_s}));
  for (const std::vector<KindPolicy>& stored : {kinds, past_kinds}) {
    for (const KindPolicy& kind : stored) {
      const Day first = today - kind.window_days - 1;
      horizon.declared[kind.number - kDeclaredKindFirst] = first;
      horizon.taken_back = std::min(horizon.taken_back, first);
    }
  }
  horizon.whole = horizon.exposed;
  // Users who were left with nothing by the windows of `swept_through` have their tombstone. Others still
  // need theirs, also those whose last served items end today.
  if (snapshot) {
    horizon.whole = swept_through == kFirstOfDays
                        ? kFirstOfDays
                        : horizon.exposed - std::max(1, today.since_epoch - swept_through.since_epoch);
  }
  horizon.taken_back = std::min(horizon.taken_back, horizon.ServedFrom(limits.served_width_s));
  return horizon;
}

bool FilterPolicy::WindowsCut(std::string_view encoded_delta, Day before, Day now) const {
  return WindowCut(encoded_delta, AnswerAt(StartOf(before)), AnswerAt(StartOf(now)));
}

uint64_t FilterPolicy::RenderingHash() const {
  std::string text = std::to_string(window_days) + ' ' + std::to_string(static_cast<int>(window_by)) + ' ' +
                     std::to_string(items_max) + ' ' + std::to_string(exposures_min) + ' ' +
                     std::to_string(cooldown_days.value_or(-1));
  for (const KindPolicy& kind : kinds) {
    text += ' ' + std::to_string(kind.number) + ' ' + std::to_string(kind.window_days);
  }
  if (similar != Similar::kOff) text += " similar";  // demoted or dropped: the snapshots are the same
  if (snapshot) {
    const SnapshotShape shape = snapshot->shape();
    text += ' ' + std::to_string(static_cast<int>(shape.format)) + ' ' +
            std::to_string(shape.false_positive_rate);
    if (shape.power_of_two) text += " 2^";
    if (updates) text += " updates";
  }
  return RecordHash(name, text);
}

bool AsksGroupsShown(const FilterPolicy& policy) {
  return policy.exposures_min <= 1 && policy.window_by == WindowBy::kExposedAt;
}

}  // namespace seen
