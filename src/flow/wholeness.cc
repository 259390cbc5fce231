#include "flow/wholeness.h"

#include <algorithm>

#include "base/result.h"
#include "model/day.h"

namespace seen {
namespace {

FilterWholeness InNewStore(int64_t start_offset) {
  FilterWholeness made;
  made.awaits_record = start_offset > 0;
  made.last_published = start_offset > 0 ? LastPublished::kUnread : LastPublished::kInState;
  return made;
}

// An older version stored only the lost ranges.
FilterWholeness OfOlderVersion(const Position& stored) {
  FilterWholeness made;
  for (const LostRange& range : stored.lost_ranges)
    made.complete_since = std::max(made.complete_since, range.noticed_at);
  return made;
}

FilterWholeness Added(const Position& stored) {
  FilterWholeness made;
  if (stored.next_offset == 0) return made;  // nothing was read before it was added
  made.complete_since = stored.partition_time;
  made.awaits_record = true;
  made.last_published = LastPublished::kUnread;
  return made;
}

// `known` was written by the run before this one.
FilterWholeness GoesOn(FilterWholeness known, const Position& stored, int32_t window_days) {
  if (known.complete_since == kNotRecorded) {
    known.complete_since = stored.partition_time;
    known.awaits_record = true;
  } else if (window_days > known.window_days) {
    // What left the shorter window is gone.
    const int64_t kept_ms = int64_t{known.window_days} * kMsPerDay;
    known.complete_since = std::max(known.complete_since, TimeMs{stored.partition_time.value - kept_ms});
  }
  return known;
}

}  // namespace

Wholeness::Wholeness(std::span<const FilterPolicy> filters, const std::optional<Position>& stored,
                     int64_t start_offset)
    : configured_count_(filters.size()) {
  Check(filters.size() <= kFiltersMax, "at most 16 filters");
  if (stored) filters_ = stored->filters;
  const bool older_version = stored && filters_.empty();
  for (FilterWholeness& known : filters_) {
    const bool is_configured = std::any_of(filters.begin(), filters.end(), [&](const FilterPolicy& filter) {
      return filter.id == known.filter;
    });
    if (is_configured || known.complete_since == kNotRecorded) continue;
    known.complete_since = kNotRecorded;
    known.awaits_record = false;
    if (known.last_published == LastPublished::kKept) known.last_published = LastPublished::kUnread;
  }
  for (size_t i = 0; i < filters.size(); ++i) {
    const FilterPolicy& filter = filters[i];
    const int32_t window_days = filter.LongestWindowDays();
    const auto at =
        std::lower_bound(filters_.begin(), filters_.end(), filter.id,
                         [](const FilterWholeness& known, FilterId id) { return known.filter < id; });
    const bool is_known = at != filters_.end() && at->filter == filter.id;
    FilterWholeness now = !stored         ? InNewStore(start_offset)
                          : older_version ? OfOlderVersion(*stored)
                          : is_known      ? GoesOn(*at, *stored, window_days)
                                          : Added(*stored);
    now.filter = filter.id;
    now.window_days = window_days;
    if (is_known) {
      *at = now;
    } else {
      filters_.insert(at, now);
    }
    configured_[i].id = filter.id;
    configured_[i].window_days = window_days;
  }
  Changed();
  if (stored && stored->filters == filters_) has_changes_.store(false);
}

FilterWholeness& Wholeness::At(FilterIndex filter_index) {
  const auto found = std::find_if(filters_.begin(), filters_.end(), [&](const FilterWholeness& filter) {
    return filter.filter == configured_[filter_index].id;
  });
  Check(found != filters_.end(), "each configured filter is known");
  return *found;
}

void Wholeness::Changed() {
  bool awaits = false;
  for (size_t i = 0; i < configured_count_; ++i) {
    const FilterWholeness& filter = At(FilterIndex(i));
    awaits |= filter.awaits_record;
    configured_[i].since_ms.store(filter.awaits_record ? kAwaitsRecord : filter.complete_since.value,
                                  std::memory_order_release);
    configured_[i].last_published.store(filter.last_published, std::memory_order_release);
  }
  awaits_record_.store(awaits, std::memory_order_release);
  has_changes_.store(true, std::memory_order_release);
}

void Wholeness::Filled(FilterIndex filter_index, TimeMs complete_since, uint64_t losses) {
  const MutexLock lock(mutex_);
  if (losses_.load(std::memory_order_relaxed) != losses) return;
  FilterWholeness& filter = At(filter_index);
  filter.complete_since =
      filter.awaits_record ? complete_since : std::min(filter.complete_since, complete_since);
  filter.awaits_record = false;
  Changed();
}

void Wholeness::Lost(TimeMs partition_time, bool all) {
  const MutexLock lock(mutex_);
  losses_.fetch_add(1, std::memory_order_release);
  for (size_t i = 0; i < configured_count_; ++i) {
    FilterWholeness& filter = At(FilterIndex(i));
    filter.complete_since = std::max(filter.complete_since, partition_time);
    filter.awaits_record = true;
    if (all) filter.last_published = LastPublished::kUnread;
  }
  Changed();
}

void Wholeness::FirstRecord(TimeMs timestamp) {
  const MutexLock lock(mutex_);
  for (size_t i = 0; i < configured_count_; ++i) {
    FilterWholeness& filter = At(FilterIndex(i));
    if (!filter.awaits_record) continue;
    filter.complete_since = std::max(filter.complete_since, timestamp);
    filter.awaits_record = false;
  }
  Changed();
}

std::optional<TimeMs> Wholeness::IncompleteSince(FilterIndex filter_index, TimeMs now) const {
  const Configured& filter = configured_[filter_index];
  const int64_t since_ms = filter.since_ms.load(std::memory_order_acquire);
  if (since_ms <= now.value - int64_t{filter.window_days} * kMsPerDay) [[likely]]
    return std::nullopt;
  return since_ms == kAwaitsRecord ? now : TimeMs{since_ms};
}

LastPublished Wholeness::last_published(FilterIndex filter_index) const {
  return configured_[filter_index].last_published.load(std::memory_order_acquire);
}

void Wholeness::SetLastPublished(FilterIndex filter_index, LastPublished where) {
  const MutexLock lock(mutex_);
  if (At(filter_index).last_published == where) return;
  At(filter_index).last_published = where;
  Changed();
}

std::vector<FilterWholeness> Wholeness::Take() {
  has_changes_.store(false, std::memory_order_release);
  return Now();
}

std::vector<FilterWholeness> Wholeness::Now() {
  const MutexLock lock(mutex_);
  return filters_;
}

}  // namespace seen
