#include "model/change.h"

#include <tuple>
#include <utility>

#include "model/delta_others.h"
#include "model/delta_view.h"

namespace seen {
namespace {

constexpr auto kDaySeconds = static_cast<uint32_t>(kSecondsPerDay);

Day DayOfSecond(uint32_t second) { return {static_cast<int32_t>(second / kSecondsPerDay)}; }

// For changes that are all exposures: only sorting by day and fingerprint is needed.
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

// The header of the segment that a change belongs to, and the entry that the segment keeps of the change.
struct Placed {
  OtherHeader header;
  OtherEntry entry;
  friend bool operator<(const Placed& a, const Placed& b) {
    return std::tuple(PlaceOf(a.header), a.entry) < std::tuple(PlaceOf(b.header), b.entry);
  }
};

Placed PlacedAt(SegmentKind kind, uint32_t width_s, Fingerprint fingerprint, uint32_t second) {
  const uint32_t within = second % width_s;
  return {{kind, width_s, second / width_s, within, within, 0}, {fingerprint, 0}};
}

Placed PlacedOf(const Change& change, const DeltaLimits& limits) {
  switch (change.kind) {
    case ChangeKind::kExposed: {  // only where limits.repeated
      Placed placed = PlacedAt(SegmentKind::kRepeated, kDayWidth, change.fingerprint, change.second);
      placed.entry.time = placed.header.first_second;
      return placed;
    }
    case ChangeKind::kServed:
      return PlacedAt(SegmentKind::kServed, limits.served_width_s, change.fingerprint, change.second);
    case ChangeKind::kExposedOfCreation: {
      const uint32_t exposed = change.second & kPackedDayMax;
      return {{SegmentKind::kByCreation, kDayWidth, change.second >> 16, 0, 0, exposed},
              {change.fingerprint, exposed}};
    }
    case ChangeKind::kSimilar:
      return PlacedAt(SegmentKind::kSimilar, kDayWidth, change.fingerprint, change.second);
    default:
      return PlacedAt(static_cast<SegmentKind>(change.kind), kDayWidth, change.fingerprint, change.second);
  }
}

Placed PlacedResolving(const Change& exposed, const Change& consumed, const DeltaLimits& limits) {
  Placed placed =
      PlacedAt(SegmentKind::kResolving, limits.served_width_s, exposed.fingerprint, exposed.second);
  const uint64_t start = placed.header.StartSecond();
  placed.entry.time = consumed.second > start ? static_cast<uint32_t>(consumed.second - start) : 0;
  return placed;
}

std::vector<OtherSegment> OthersOf(std::vector<Placed>& placed, const DeltaLimits& limits) {
  std::sort(placed.begin(), placed.end());
  std::vector<OtherSegment> others;
  std::vector<OtherEntry> entries;
  for (size_t from = 0; from < placed.size();) {
    OtherSegment& segment = others.emplace_back();
    static_cast<OtherHeader&>(segment) = placed[from].header;
    entries.clear();
    for (; from < placed.size() && PlaceOf(placed[from].header) == PlaceOf(segment); ++from) {
      const OtherHeader& header = placed[from].header;
      segment.first_second = std::min(segment.first_second, header.first_second);
      segment.last_second = std::max(segment.last_second, header.last_second);
      segment.last_day = std::max(segment.last_day, header.last_day);
      if (entries.empty() || entries.back() != placed[from].entry) entries.push_back(placed[from].entry);
    }
    SetEntries(segment, entries);
    CutOther(segment, {}, limits.ItemsMax(segment.kind));
  }
  return others;
}

// `changes` must take nothing back.
Delta DeltaOfRun(std::span<const Change> changes, const DeltaLimits& limits) {
  std::vector<Change> exposures;
  std::vector<Placed> placed;
  for (size_t i = 0; i < changes.size(); ++i) {
    if (changes[i].kind == ChangeKind::kExposed && !limits.repeated) {
      exposures.push_back(changes[i]);
    } else if (changes[i].kind != ChangeKind::kResolving) {
      placed.push_back(PlacedOf(changes[i], limits));
    } else if (i + 1 < changes.size() && changes[i + 1].kind == ChangeKind::kResolving) {
      placed.push_back(PlacedResolving(changes[i], changes[i + 1], limits));
      ++i;
    }
  }
  Delta delta = DeltaOfExposures(exposures, limits);
  delta.others = OthersOf(placed, limits);
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
  const auto takes_back = [](const Change& change) { return TakesBack(change.kind); };
  Delta delta;
  if (!limits.repeated && std::all_of(changes.begin(), changes.end(), is_exposure)) {
    delta = DeltaOfExposures(changes, limits);
  } else if (std::none_of(changes.begin(), changes.end(), takes_back)) {
    delta = DeltaOfRun(changes, limits);
  } else {
    std::vector<Delta> runs;
    for (size_t from = 0; from < changes.size();) {
      if (TakesBack(changes[from].kind)) {
        runs.push_back(DeltaOfWithdrawal(changes[from++]));
        continue;
      }
      size_t to = from;
      while (to < changes.size() && !TakesBack(changes[to].kind)) ++to;
      runs.push_back(DeltaOfRun(changes.subspan(from, to - from), limits));
      from = to;
    }
    delta = ComposeAll(runs, limits);
  }
  if (delta.HasSegments()) delta.user_id = std::move(user_id);
  return delta;
}

ChangeEncoder::DaySeconds& ChangeEncoder::Row::SecondsOf(uint32_t day) {
  // There are few days, and mostly the same one comes again.
  for (auto at = days.rbegin(); at != days.rend(); ++at) {
    if (at->day == day) return *at;
  }
  return days.emplace_back(DaySeconds{day, kDaySeconds, 0});
}

void ChangeEncoder::Row::Add(const Change& change) {
  const uint32_t day = change.second / kDaySeconds;
  const uint32_t second = change.second % kDaySeconds;
  DaySeconds& seconds = SecondsOf(day);
  seconds.first = std::min(seconds.first, second);
  seconds.last = std::max(seconds.last, second);
  sorted.push_back(uint64_t{day} << 32 | change.fingerprint.value);
}

void ChangeEncoder::Row::Sort() {
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
}

void ChangeEncoder::Encode(std::string_view user_id, std::span<const Change> changes,
                           const DeltaLimits& limits, std::string& out) {
  exposed_.Clear();
  similar_.Clear();
  for (const Change& change : changes) {
    if (change.kind == ChangeKind::kExposed && !limits.repeated) {
      exposed_.Add(change);
    } else if (change.kind == ChangeKind::kSimilar) {
      similar_.Add(change);
    } else {
      return EncodeDelta(DeltaOf(std::string(user_id), changes, limits), out);
    }
  }
  exposed_.Sort();
  similar_.Sort();

  const size_t segments = exposed_.days.size() + similar_.days.size();
  if (segments == 0) return delta_bytes::PutHeader(0, {}, std::nullopt, out);
  delta_bytes::PutHeader(delta_bytes::kHasSegments, user_id, std::nullopt, out);
  delta_bytes::PutVarint(segments, out);
  std::optional<Day> previous;
  const std::vector<uint64_t>& sorted = exposed_.sorted;
  for (size_t from = 0; from < sorted.size();) {
    const auto day = static_cast<uint32_t>(sorted[from] >> 32);
    fingerprints_.clear();
    for (; from < sorted.size() && sorted[from] >> 32 == day; ++from) {
      if (fingerprints_.size() < limits.items_per_day_max) {
        fingerprints_.push_back({static_cast<uint32_t>(sorted[from])});
      }
    }
    const DaySeconds& seconds = exposed_.SecondsOf(day);
    const Day this_day{static_cast<int32_t>(day)};
    delta_bytes::PutDay(this_day, previous, out);
    delta_bytes::PutBody(seconds.first, seconds.last, fingerprints_, out);
    previous = this_day;
  }
  if (!similar_.days.empty()) PutSimilar(limits, out);
}

void ChangeEncoder::PutSimilar(const DeltaLimits& limits, std::string& out) {
  others_.resize(similar_.days.size());
  size_t segments = 0;
  const std::vector<uint64_t>& sorted = similar_.sorted;
  for (size_t from = 0; from < sorted.size(); ++segments) {
    const auto day = static_cast<uint32_t>(sorted[from] >> 32);
    const DaySeconds& seconds = similar_.SecondsOf(day);
    OtherSegment& segment = others_[segments];
    static_cast<OtherHeader&>(segment) = {SegmentKind::kSimilar, kDayWidth,    day,
                                          seconds.first,         seconds.last, 0};
    segment.fingerprints.clear();
    for (; from < sorted.size() && sorted[from] >> 32 == day; ++from) {
      if (segment.fingerprints.size() < limits.ItemsMax(SegmentKind::kSimilar)) {
        segment.fingerprints.push_back({static_cast<uint32_t>(sorted[from])});
      }
    }
  }
  delta_bytes::PutOthers(others_, out);
}

}  // namespace seen
