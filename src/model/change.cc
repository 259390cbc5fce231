#include "model/change.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace seen {
namespace {

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

}  // namespace seen
