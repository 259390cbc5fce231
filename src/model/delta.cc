#include "model/delta.h"

#include <algorithm>
#include <iterator>

#include "model/delta_others.h"

namespace seen {
namespace {

using Fingerprints = std::vector<Fingerprint>;

// Appends the fingerprints of `segment` that the other delta's `removals` don't take back. Removals of the
// later delta take back exposures of their own day and of earlier days. Removals of the earlier delta take
// back only exposures of earlier days.
void AppendSurvivors(const Segment& segment, const std::vector<Removal>& removals, bool removals_are_later,
                     Fingerprints& out) {
  if (removals.empty()) {
    out.insert(out.end(), segment.fingerprints.begin(), segment.fingerprints.end());
    return;
  }
  auto removal = removals.begin();
  for (const Fingerprint fingerprint : segment.fingerprints) {
    while (removal != removals.end() && removal->fingerprint < fingerprint) ++removal;
    const bool named = removal != removals.end() && removal->fingerprint == fingerprint;
    const bool gone =
        named && (removals_are_later ? segment.day <= removal->day : segment.day < removal->day);
    if (!gone) out.push_back(fingerprint);
  }
}

Fingerprints Union(const Fingerprints& a, const Fingerprints& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Fingerprints merged;
  merged.reserve(a.size() + b.size());
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(merged));
  return merged;
}

// Keeps the fingerprints that are among the day's `items_max` smallest. Fingerprints removed on that day or
// later count as if they were still there. Else the result would depend on whether a removal came before or
// after the cut.
void CutDay(Segment& segment, const std::vector<Removal>& removals, uint32_t items_max) {
  if (segment.fingerprints.size() + removals.size() <= items_max) return;
  size_t rank = 0;
  size_t kept = 0;
  auto removal = removals.begin();
  for (const Fingerprint fingerprint : segment.fingerprints) {
    for (; removal != removals.end() && removal->fingerprint < fingerprint; ++removal) {
      if (removal->day >= segment.day) ++rank;
    }
    if (removal != removals.end() && removal->fingerprint == fingerprint) ++removal;  // counts once
    if (rank >= items_max) break;
    ++rank;
    ++kept;
  }
  segment.fingerprints.resize(kept);
}

std::vector<Removal> LatestRemovals(const std::vector<Removal>& a, const std::vector<Removal>& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  std::vector<Removal> merged;
  merged.reserve(a.size() + b.size());
  auto i = a.begin();
  auto j = b.begin();
  while (i != a.end() || j != b.end()) {
    if (j == b.end() || (i != a.end() && i->fingerprint < j->fingerprint)) {
      merged.push_back(*i++);
    } else if (i == a.end() || j->fingerprint < i->fingerprint) {
      merged.push_back(*j++);
    } else {
      merged.push_back(std::max(*i++, *j++));
    }
  }
  return merged;
}

// Drops the removals that the erasure makes redundant. `erased_is_later`: whether the erasure is in the later
// delta.
void DropErased(std::vector<Removal>& removals, std::optional<Day> erased, bool erased_is_later) {
  if (!erased) return;
  std::erase_if(removals, [&](const Removal& removal) {
    return erased_is_later ? removal.day <= *erased : removal.day < *erased;
  });
}

std::vector<Removal> RemovalsOf(const Delta& earlier, const Delta& later) {
  if (!earlier.erased && !later.erased) return LatestRemovals(earlier.removals, later.removals);
  std::vector<Removal> before = earlier.removals;
  std::vector<Removal> after = later.removals;
  DropErased(before, later.erased, true);
  DropErased(after, earlier.erased, false);
  return LatestRemovals(before, after);
}

// Two ids don't get the same key by chance. If they do all the same, the choice must not depend on the order.
const std::string& ChooseUserId(const std::string& a, const std::string& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  return std::min(a, b);
}

Delta ComposeRange(std::span<const Delta> deltas, const DeltaLimits& limits) {
  if (deltas.empty()) return {};
  if (deltas.size() == 1) return deltas.front();
  if (deltas.size() == 2) return Compose(deltas[0], deltas[1], limits);
  const size_t half = deltas.size() / 2;
  return Compose(ComposeRange(deltas.first(half), limits), ComposeRange(deltas.subspan(half), limits),
                 limits);
}

}  // namespace

Delta Compose(const Delta& earlier, const Delta& later, const DeltaLimits& limits) {
  Delta result;
  result.user_id = ChooseUserId(earlier.user_id, later.user_id);
  result.erased = std::max(earlier.erased, later.erased);  // nullopt is less than any day
  result.removals = RemovalsOf(earlier, later);
  result.segments.reserve(std::max(earlier.segments.size(), later.segments.size()) + 1);

  auto i = earlier.segments.begin();
  auto j = later.segments.begin();
  while (i != earlier.segments.end() || j != later.segments.end()) {
    const bool take_earlier = i != earlier.segments.end() && (j == later.segments.end() || i->day <= j->day);
    const bool take_later = j != later.segments.end() && (i == earlier.segments.end() || j->day <= i->day);
    const Segment* from_earlier = take_earlier ? &*i++ : nullptr;
    const Segment* from_later = take_later ? &*j++ : nullptr;
    if (from_earlier && later.erased && from_earlier->day <= *later.erased) from_earlier = nullptr;
    if (from_later && earlier.erased && from_later->day < *earlier.erased) from_later = nullptr;
    if (!from_earlier && !from_later) continue;

    // A segment stays, empty, when all of its items are removed: its seconds must not depend on the grouping.
    Segment& segment = result.segments.emplace_back();
    Fingerprints survivors_earlier;
    Fingerprints survivors_later;
    if (from_earlier) {
      segment = {from_earlier->day, from_earlier->first_second, from_earlier->last_second, {}};
      AppendSurvivors(*from_earlier, later.removals, true, survivors_earlier);
    }
    if (from_later) {
      const bool first = !from_earlier;
      segment.day = from_later->day;
      segment.first_second =
          first ? from_later->first_second : std::min(segment.first_second, from_later->first_second);
      segment.last_second =
          first ? from_later->last_second : std::max(segment.last_second, from_later->last_second);
      AppendSurvivors(*from_later, earlier.removals, false, survivors_later);
    }
    segment.fingerprints = Union(survivors_earlier, survivors_later);
    CutDay(segment, result.removals, limits.items_per_day_max);
  }
  result.others = ComposeOthers(earlier, later, result.removals, limits);
  // Else an id would outlive the erasure, and the result would depend on the grouping.
  if (!result.HasSegments()) result.user_id.clear();
  return result;
}

Delta ComposeAll(std::span<const Delta> deltas, const DeltaLimits& limits) {
  // Halves, not a left fold: a large value is then composed O(log n) times, not n times. Associativity allows
  // it.
  return ComposeRange(deltas, limits);
}

}  // namespace seen
