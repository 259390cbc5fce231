#include "model/change.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "model/delta_view.h"

namespace seen {
namespace {

constexpr auto kDaySeconds = static_cast<uint32_t>(kSecondsPerDay);

Day DayOfSecond(uint32_t second) { return {static_cast<int32_t>(second / kSecondsPerDay)}; }

// Only exposures: a sort by (day, fingerprint) is the whole work.
Delta DeltaOfExposures(std::span<const Change> changes, const DeltaLimits& limits) {
  std::vector<std::pair<uint32_t, Fingerprint>> sorted;  // (second, fingerprint)
  sorted.reserve(changes.size());
  for (const Change& change : changes) sorted.emplace_back(change.second, change.fingerprint);
  std::sort(sorted.begin(), sorted.end());

  Delta delta;
  for (size_t from = 0; from < sorted.size();) {
    const Day day = DayOfSecond(sorted[from].first);
    size_t to = from;
    while (to < sorted.size() && DayOfSecond(sorted[to].first) == day) ++to;
    Segment& segment = delta.segments.emplace_back();
    segment.day = day;
    segment.first_second = static_cast<uint32_t>(sorted[from].first % kSecondsPerDay);
    segment.last_second = static_cast<uint32_t>(sorted[to - 1].first % kSecondsPerDay);
    segment.fingerprints.reserve(to - from);
    for (size_t i = from; i < to; ++i) segment.fingerprints.push_back(sorted[i].second);
    std::sort(segment.fingerprints.begin(), segment.fingerprints.end());
    segment.fingerprints.erase(std::unique(segment.fingerprints.begin(), segment.fingerprints.end()),
                               segment.fingerprints.end());
    if (segment.fingerprints.size() > limits.items_per_day_max) {
      segment.fingerprints.resize(limits.items_per_day_max);
    }
    from = to;
  }
  return delta;
}

Delta DeltaOfWithdrawal(const Change& change) {
  Delta delta;
  const Day day = DayOfSecond(change.second);
  if (change.kind == ChangeKind::kErased) {
    delta.erased = day;
  } else {
    delta.removals.push_back({change.fingerprint, day});
  }
  return delta;
}

}  // namespace

Delta DeltaOf(std::string user_id, std::span<const Change> changes, const DeltaLimits& limits) {
  const auto is_exposure = [](const Change& change) { return change.kind == ChangeKind::kExposed; };
  Delta delta;
  if (std::all_of(changes.begin(), changes.end(), is_exposure)) {
    delta = DeltaOfExposures(changes, limits);
  } else {
    std::vector<Delta> runs;
    for (size_t from = 0; from < changes.size();) {
      if (!is_exposure(changes[from])) {
        runs.push_back(DeltaOfWithdrawal(changes[from++]));
        continue;
      }
      size_t to = from;
      while (to < changes.size() && is_exposure(changes[to])) ++to;
      runs.push_back(DeltaOfExposures(changes.subspan(from, to - from), limits));
      from = to;
    }
    delta = ComposeAll(runs, limits);
  }
  delta.user_id = std::move(user_id);
  return delta;
}

ChangeEncoder::DaySeconds& ChangeEncoder::SecondsOf(uint32_t day) {
  // Few, and mostly the same one again.
  for (auto at = days_.rbegin(); at != days_.rend(); ++at) {
    if (at->day == day) return *at;
  }
  return days_.emplace_back(DaySeconds{day, kDaySeconds, 0});
}

void ChangeEncoder::Encode(std::string_view user_id, std::span<const Change> changes,
                           const DeltaLimits& limits, std::string& out) {
  sorted_.clear();
  days_.clear();
  for (const Change& change : changes) {
    if (change.kind != ChangeKind::kExposed) {
      return EncodeDelta(DeltaOf(std::string(user_id), changes, limits), out);
    }
    const uint32_t day = change.second / kDaySeconds;
    const uint32_t second = change.second % kDaySeconds;
    DaySeconds& seconds = SecondsOf(day);
    seconds.first = std::min(seconds.first, second);
    seconds.last = std::max(seconds.last, second);
    sorted_.push_back(uint64_t{day} << 32 | change.fingerprint.value);
  }
  std::sort(sorted_.begin(), sorted_.end());
  sorted_.erase(std::unique(sorted_.begin(), sorted_.end()), sorted_.end());

  delta_bytes::PutHeader(sorted_.empty() ? 0 : delta_bytes::kHasSegments, user_id, std::nullopt, out);
  if (sorted_.empty()) return;
  delta_bytes::PutVarint(days_.size(), out);
  std::optional<Day> previous;
  for (size_t from = 0; from < sorted_.size();) {
    const auto day = static_cast<uint32_t>(sorted_[from] >> 32);
    fingerprints_.clear();
    for (; from < sorted_.size() && sorted_[from] >> 32 == day; ++from) {
      if (fingerprints_.size() < limits.items_per_day_max) {
        fingerprints_.push_back({static_cast<uint32_t>(sorted_[from])});
      }
    }
    const DaySeconds& seconds = SecondsOf(day);
    const Day this_day{static_cast<int32_t>(day)};
    delta_bytes::PutDay(this_day, previous, out);
    delta_bytes::PutBody(seconds.first, seconds.last, fingerprints_, out);
    previous = this_day;
  }
}

}  // namespace seen
