#include "model/delta_others.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>

namespace seen {
namespace {

// Whether a removal or erasure up to day `until` takes back an exposure of `day`. One in the later delta
// takes back its own day as well, one in the earlier delta only the days before.
bool IsGone(Day day, Day until, bool other_is_later) { return other_is_later ? day <= until : day < until; }

// Appends the entries of `segment` that `other` doesn't take back. False: the segment is gone, with its
// seconds.
bool AppendSurvivors(const OtherSegment& segment, const Delta& other, bool other_is_later,
                     std::vector<OtherEntry>& out) {
  const Day segment_day = segment.day();
  if (other.erased && IsGone(segment_day, *other.erased, other_is_later)) return false;
  auto removal = other.removals.begin();
  for (size_t i = 0; i < segment.fingerprints.size(); ++i) {
    const Fingerprint fingerprint = segment.fingerprints[i];
    const uint32_t time = segment.times.empty() ? 0 : segment.times[i];
    const Day day = segment.kind == SegmentKind::kByCreation ? Day{static_cast<int32_t>(time)} : segment_day;
    while (removal != other.removals.end() && removal->fingerprint < fingerprint) ++removal;
    const bool named = removal != other.removals.end() && removal->fingerprint == fingerprint;
    if (named && IsGone(day, removal->day, other_is_later)) continue;
    if (other.erased && IsGone(day, *other.erased, other_is_later)) continue;
    out.push_back({fingerprint, time});
  }
  return true;
}

void Widen(OtherHeader& header, const OtherHeader& by) {
  header.first_second = std::min(header.first_second, by.first_second);
  header.last_second = std::max(header.last_second, by.last_second);
  header.last_day = std::max(header.last_day, by.last_day);
}

}  // namespace

void SetEntries(OtherSegment& segment, std::span<const OtherEntry> entries) {
  segment.fingerprints.clear();
  segment.times.clear();
  const bool timed = IsTimed(segment.kind);
  for (size_t from = 0; from < entries.size();) {
    size_t to = from + 1;
    while (to < entries.size() && entries[to].fingerprint == entries[from].fingerprint) ++to;
    size_t first = from;
    size_t last = from + 1;
    if (segment.kind == SegmentKind::kRepeated) {
      first = to - from > kRepeatsMax ? to - kRepeatsMax : from;
      last = to;
    } else if (segment.kind == SegmentKind::kByCreation) {
      first = to - 1;
      last = to;
    }
    for (size_t i = first; i < last; ++i) {
      segment.fingerprints.push_back(entries[i].fingerprint);
      if (timed) segment.times.push_back(entries[i].time);
    }
    from = to;
  }
}

// As CutDay in model/delta.cc. A bucket may hold exposures of several days. Then a smaller fingerprint counts
// against an item only if it was shown or removed on the item's day or later. Fingerprints that were erased
// or removed before that day don't count: another grouping may never have had them.
void CutOther(OtherSegment& segment, const std::vector<Removal>& removals, uint32_t items_max) {
  if (segment.fingerprints.size() + removals.size() <= items_max) return;
  std::priority_queue<Day, std::vector<Day>, std::greater<>> newest;  // days of the smaller fingerprints
  const auto count = [&](Day day) {
    newest.push(day);
    if (newest.size() > items_max) newest.pop();
  };
  const Day segment_day = segment.day();
  auto removal = removals.begin();
  size_t kept = 0;
  for (size_t from = 0; from < segment.fingerprints.size();) {
    const Fingerprint fingerprint = segment.fingerprints[from];
    for (; removal != removals.end() && removal->fingerprint < fingerprint; ++removal) count(removal->day);
    Day day = segment_day;
    if (segment.kind == SegmentKind::kByCreation) day = {static_cast<int32_t>(segment.times[from])};
    const bool keep = newest.size() < items_max || (!newest.empty() && newest.top() < day);
    for (; from < segment.fingerprints.size() && segment.fingerprints[from] == fingerprint; ++from) {
      if (!keep) continue;
      segment.fingerprints[kept] = fingerprint;
      if (!segment.times.empty()) segment.times[kept] = segment.times[from];
      ++kept;
    }
    if (removal != removals.end() && removal->fingerprint == fingerprint) {  // counts once
      day = std::max(day, removal->day);
      ++removal;
    }
    count(day);
  }
  segment.fingerprints.resize(kept);
  if (!segment.times.empty()) segment.times.resize(kept);
}

std::vector<OtherSegment> ComposeOthers(const Delta& earlier, const Delta& later,
                                        const std::vector<Removal>& removals, const DeltaLimits& limits) {
  std::vector<OtherSegment> result;
  if (earlier.others.empty() && later.others.empty()) return result;
  result.reserve(std::max(earlier.others.size(), later.others.size()) + 1);
  std::vector<OtherEntry> from_earlier, from_later, both;
  auto i = earlier.others.begin();
  auto j = later.others.begin();
  while (i != earlier.others.end() || j != later.others.end()) {
    const bool has_i = i != earlier.others.end();
    const bool has_j = j != later.others.end();
    const bool take_i = has_i && (!has_j || PlaceOf(*i) <= PlaceOf(*j));
    const bool take_j = has_j && (!has_i || PlaceOf(*j) <= PlaceOf(*i));
    const OtherSegment* a = take_i ? &*i++ : nullptr;
    const OtherSegment* b = take_j ? &*j++ : nullptr;
    from_earlier.clear();
    from_later.clear();
    if (a && !AppendSurvivors(*a, later, true, from_earlier)) a = nullptr;
    if (b && !AppendSurvivors(*b, earlier, false, from_later)) b = nullptr;
    if (!a && !b) continue;
    // Empty segments stay, as in Compose.
    OtherSegment& segment = result.emplace_back();
    static_cast<OtherHeader&>(segment) = a ? *a : *b;
    if (a && b) Widen(segment, *b);
    both.clear();
    std::set_union(from_earlier.begin(), from_earlier.end(), from_later.begin(), from_later.end(),
                   std::back_inserter(both));
    SetEntries(segment, both);
    CutOther(segment, removals, limits.ItemsMax(segment.kind));
  }
  return result;
}

}  // namespace seen
