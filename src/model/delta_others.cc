#include "model/delta_others.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <queue>

#include "model/delta_reader.h"
#include "model/delta_view.h"

namespace seen {

namespace {

// Whether a removal or erasure up to day `until` takes back an exposure of `day`. One in the later delta
// takes back its own day as well, one in the earlier delta only the days before.
bool IsGone(Day day, Day until, bool other_is_later) { return other_is_later ? day <= until : day < until; }

// Appends the entries of `segment` that `other` doesn't take back. False: the segment is gone, with its
// seconds.
bool AppendOtherSurvivors(const OtherSegment& segment, const Delta& other, bool other_is_later,
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
    if (a && !AppendOtherSurvivors(*a, later, true, from_earlier)) a = nullptr;
    if (b && !AppendOtherSurvivors(*b, earlier, false, from_later)) b = nullptr;
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

namespace delta_bytes {
namespace {

bool SameRow(const OtherHeader& a, const OtherHeader& b) {
  return a.kind == b.kind && a.width_s == b.width_s;
}

// Each fingerprint once.
std::span<const Fingerprint> UniqueOf(const OtherSegment& segment, std::vector<Fingerprint>& scratch) {
  if (segment.kind != SegmentKind::kRepeated) return segment.fingerprints;
  scratch.clear();
  std::unique_copy(segment.fingerprints.begin(), segment.fingerprints.end(), std::back_inserter(scratch));
  return scratch;
}

void PutTimes(const OtherSegment& segment, std::string& out) {
  if (segment.kind == SegmentKind::kByCreation) {
    for (const uint32_t day : segment.times) PutVarint(day - segment.bucket, out);
  } else if (segment.kind == SegmentKind::kResolving) {
    for (const uint32_t second : segment.times) PutVarint(second, out);
  } else if (segment.kind == SegmentKind::kRepeated) {
    for (size_t from = 0; from < segment.times.size();) {
      size_t to = from + 1;
      while (to < segment.times.size() && segment.fingerprints[to] == segment.fingerprints[from]) ++to;
      PutVarint(to - from - 1, out);
      PutVarint(segment.times[from] - segment.first_second, out);
      while (++from < to) PutVarint(segment.times[from] - segment.times[from - 1] - 1, out);
    }
  }
}

// Parses the repeats of one fingerprint. Returns how many there are.
uint32_t ParseRepeats(Reader& reader, const OtherHeader& header) {
  const auto more = static_cast<uint32_t>(reader.Varint(kRepeatsMax - 1));
  uint64_t second = header.first_second + reader.Varint(kDayWidth - 1);
  for (uint32_t i = 0; i < more && reader.ok(); ++i) second += 1 + reader.Varint(kDayWidth - 1);
  reader.Require(second <= header.last_second);
  return more + 1;
}

void ParseTimes(Reader& reader, OtherView& view) {
  const char* const from = reader.at();
  view.entries = view.fingerprints.count;
  if (!IsTimed(view.kind)) return;
  uint64_t entries = 0;
  for (uint32_t i = 0; i < view.fingerprints.count && reader.ok(); ++i) {
    if (view.kind == SegmentKind::kRepeated) {
      entries += ParseRepeats(reader, view);
    } else {
      ++entries;
      reader.Varint(view.kind == SegmentKind::kByCreation ? view.last_day - view.bucket : kMax32);
    }
  }
  reader.Require(entries <= kMax32);
  if (!reader.ok()) return;
  view.entries = static_cast<uint32_t>(entries);
  view.times = {from, static_cast<size_t>(reader.at() - from)};
}

void ParseHeader(Reader& reader, uint8_t kind, const OtherView* previous, OtherView& view) {
  reader.Require(IsSegmentKind(kind));
  view.kind = static_cast<SegmentKind>(kind);
  if (HasWidth(view.kind)) view.width_s = static_cast<uint32_t>(reader.Varint(kMax32));
  reader.Require(view.width_s > 0);
  if (!reader.ok()) return;
  uint64_t bucket = reader.Varint(kMax32);
  if (previous) {
    if (SameRow(*previous, view)) bucket += uint64_t{previous->bucket} + 1;
    reader.Require(std::tie(previous->kind, previous->width_s) <= std::tie(view.kind, view.width_s));
  }
  const uint64_t bucket_max = view.kind == SegmentKind::kByCreation ? kPackedDayMax : kMax32 / view.width_s;
  reader.Require(bucket <= bucket_max);
  if (!reader.ok()) return;
  view.bucket = static_cast<uint32_t>(bucket);
  if (view.kind == SegmentKind::kByCreation) {
    view.last_day = view.bucket + static_cast<uint32_t>(reader.Varint(kPackedDayMax - view.bucket));
  } else {
    view.first_second = static_cast<uint32_t>(reader.Varint(view.width_s - 1));
    view.last_second =
        view.first_second + static_cast<uint32_t>(reader.Varint(view.width_s - 1 - view.first_second));
  }
}

}  // namespace

void PutOthers(const std::vector<OtherSegment>& others, std::string& out) {
  std::vector<Fingerprint> scratch;
  const OtherSegment* previous = nullptr;
  for (const OtherSegment& segment : others) {
    out.push_back(static_cast<char>(segment.kind));
    if (HasWidth(segment.kind)) PutVarint(segment.width_s, out);
    const bool follows = previous && SameRow(*previous, segment);
    PutVarint(follows ? segment.bucket - previous->bucket - 1 : segment.bucket, out);
    if (segment.kind == SegmentKind::kByCreation) {
      PutVarint(segment.last_day - segment.bucket, out);
    } else {
      PutVarint(segment.first_second, out);
      PutVarint(segment.last_second - segment.first_second, out);
    }
    const auto fingerprints = UniqueOf(segment, scratch);
    PutVarint(fingerprints.size(), out);
    if (!fingerprints.empty()) PutFingerprints(fingerprints, out);
    PutTimes(segment, out);
    previous = &segment;
  }
}

void ParseOthers(Reader& reader, uint8_t kind, uint64_t count, DeltaView& view) {
  const char* const begin = reader.at() - 1;
  for (;;) {
    OtherView other;
    ParseHeader(reader, kind, view.others.empty() ? nullptr : &view.others.back(), other);
    const uint64_t items = reader.Varint(kMax32);
    if (reader.ok() && items > 0) other.fingerprints = reader.Code(items);
    if (reader.ok()) ParseTimes(reader, other);
    if (!reader.ok()) return;
    view.others.push_back(other);
    if (--count == 0) break;
    kind = reader.Byte();
  }
  view.others_bytes = {begin, static_cast<size_t>(reader.at() - begin)};
}

}  // namespace delta_bytes

namespace {

using delta_bytes::kMax32;

void DecodeTimes(const OtherView& view, std::span<const Fingerprint> unique, OtherSegment& segment) {
  delta_bytes::Reader reader(view.times);
  segment.times.reserve(view.entries);
  if (view.kind != SegmentKind::kRepeated) {
    const uint32_t from = view.kind == SegmentKind::kByCreation ? view.bucket : 0;
    for (uint32_t i = 0; i < view.entries; ++i) {
      segment.times.push_back(from + static_cast<uint32_t>(reader.Varint(kMax32)));
    }
    return;
  }
  segment.fingerprints.reserve(view.entries);
  for (const Fingerprint fingerprint : unique) {
    const auto more = static_cast<uint32_t>(reader.Varint(kMax32));
    uint32_t second = view.first_second + static_cast<uint32_t>(reader.Varint(kMax32));
    for (uint32_t i = 0;; ++i) {
      segment.fingerprints.push_back(fingerprint);
      segment.times.push_back(second);
      if (i == more) break;
      second += 1 + static_cast<uint32_t>(reader.Varint(kMax32));
    }
  }
}

}  // namespace

bool DecodeSegment(const OtherView& view, OtherSegment& segment) {
  segment = {};
  static_cast<OtherHeader&>(segment) = view;
  if (view.fingerprints.count == 0) return true;
  std::vector<Fingerprint> fingerprints(view.fingerprints.count);
  if (!DecodeFingerprints({&view.fingerprints, 1}, fingerprints.data())) return false;
  if (IsTimed(view.kind)) DecodeTimes(view, fingerprints, segment);
  if (view.kind != SegmentKind::kRepeated) segment.fingerprints = std::move(fingerprints);
  return true;
}

bool DecodeOthers(const DeltaView& view, std::vector<OtherSegment>& others) {
  others.clear();
  others.reserve(view.others.size());
  return std::all_of(view.others.begin(), view.others.end(),
                     [&](const OtherView& other) { return DecodeSegment(other, others.emplace_back()); });
}

}  // namespace seen
