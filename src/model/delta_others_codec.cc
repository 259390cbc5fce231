// The bytes of segments of other kinds than exposed. schemas/store.md, "Delta encoding".
#include <algorithm>

#include "model/delta_reader.h"
#include "model/delta_view.h"

namespace seen {
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

bool DecodeOthers(const DeltaView& view, std::vector<OtherSegment>& others) {
  others.clear();
  others.reserve(view.others.size());
  for (const OtherView& other : view.others) {
    OtherSegment& segment = others.emplace_back();
    static_cast<OtherHeader&>(segment) = other;
    if (other.fingerprints.count == 0) continue;
    std::vector<Fingerprint> fingerprints(other.fingerprints.count);
    if (!DecodeFingerprints({&other.fingerprints, 1}, fingerprints.data())) return false;
    if (IsTimed(other.kind)) DecodeTimes(other, fingerprints, segment);
    if (other.kind != SegmentKind::kRepeated) segment.fingerprints = std::move(fingerprints);
  }
  return true;
}

}  // namespace seen
