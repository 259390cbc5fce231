#include "model/delta_view.h"

#include <algorithm>
#include <limits>

#include "model/delta_reader.h"
#include "model/event.h"

namespace seen {
namespace {

using delta_bytes::kMax32;
using delta_bytes::Reader;

void ParseRemovals(Reader& reader, DeltaView& view) {
  const uint64_t count = reader.Varint(kMax32);
  reader.Require(count > 0);
  view.removed = reader.Code(count);
  view.removed_first = reader.ReadDay();
  const char* const days = reader.at();
  bool first_is_present = false;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    const uint64_t after = reader.Varint(kMax32);
    reader.Require(int64_t{view.removed_first.since_epoch} + static_cast<int64_t>(after) <=
                   std::numeric_limits<int32_t>::max());
    first_is_present |= after == 0;
  }
  reader.Require(first_is_present);
  if (reader.ok()) view.removed_days = {days, static_cast<size_t>(reader.at() - days)};
}

void ParseSegments(Reader& reader, DeltaView& view) {
  std::vector<SegmentView>& segments = view.segments;
  const uint64_t count = reader.Varint(kMax32);
  reader.Require(count > 0);
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    SegmentView segment;
    const char* const whole = reader.at();
    if (const uint8_t kind = reader.Byte(); kind != 0) [[unlikely]] {
      return delta_bytes::ParseOthers(reader, kind, count - i, view);
    }
    if (i == 0) {
      segment.day = reader.ReadDay();
    } else {
      const int64_t day =
          int64_t{segments.back().day.since_epoch} + 1 + static_cast<int64_t>(reader.Varint(kMax32));
      reader.Require(day <= std::numeric_limits<int32_t>::max());
      segment.day = {static_cast<int32_t>(day)};
    }
    const char* const body = reader.at();
    segment.first_second = static_cast<uint32_t>(reader.Varint(kSecondsPerDay - 1));
    segment.last_second = segment.first_second +
                          static_cast<uint32_t>(reader.Varint(kSecondsPerDay - 1 - segment.first_second));
    const uint64_t items = reader.Varint(kMax32);
    if (reader.ok() && items > 0) segment.fingerprints = reader.Code(items);
    if (!reader.ok()) return;
    segment.whole = {whole, static_cast<size_t>(reader.at() - whole)};
    segment.body = {body, static_cast<size_t>(reader.at() - body)};
    segments.push_back(segment);
  }
}

}  // namespace

bool ParseDelta(std::string_view bytes, DeltaView& view) {
  view.user_id = {};
  view.erased.reset();
  view.removed = {};
  view.removed_days = {};
  view.segments.clear();
  view.others.clear();
  view.others_bytes = {};
  Reader reader(bytes);
  reader.Require(reader.Byte() == delta_bytes::kDeltaVersion);
  const uint8_t flags = reader.Byte();
  reader.Require(flags < 2 * delta_bytes::kHasSegments);
  if (flags & delta_bytes::kHasUserId) {
    const uint64_t length = reader.Varint(kIdBytesMax);
    reader.Require(length > 0);
    view.user_id = reader.Bytes(length);
  }
  if (flags & delta_bytes::kHasErased) view.erased = reader.ReadDay();
  if (flags & delta_bytes::kHasRemovals) ParseRemovals(reader, view);
  if (flags & delta_bytes::kHasSegments) ParseSegments(reader, view);
  return reader.ok() && reader.AtEnd();
}

Error NotADelta(std::string_view bytes) {
  return {Code::kCorrupt,
          "delta: " + std::to_string(bytes.size()) + " bytes that are not a delta's encoding"};
}

std::string_view UserIdOfDelta(std::string_view bytes) {
  Reader reader(bytes);
  reader.Require(reader.Byte() == delta_bytes::kDeltaVersion);
  reader.Require((reader.Byte() & delta_bytes::kHasUserId) != 0);
  const std::string_view user_id = reader.Bytes(reader.Varint(kIdBytesMax));
  return reader.ok() ? user_id : std::string_view();
}

bool DecodeFingerprints(std::span<const RiceCode> codes, Fingerprint* to) {
  if (!RiceDecode(codes, to)) return false;
  for (const RiceCode& code : codes) {
    to += code.count;
    if (code.parameter != RiceParameter(code.count, to[-1].value)) return false;
  }
  return true;
}

bool DecodeSegment(const SegmentView& view, Segment& segment) {
  segment = {view.day, view.first_second, view.last_second,
             std::vector<Fingerprint>(view.fingerprints.count)};
  return segment.fingerprints.empty() ||
         DecodeFingerprints({&view.fingerprints, 1}, segment.fingerprints.data());
}

bool DecodeView(const DeltaView& view, Delta& delta) {
  delta.user_id = view.user_id;
  delta.erased = view.erased;
  delta.removals.clear();
  if (view.removed.count > 0) {
    std::vector<Fingerprint> fingerprints(view.removed.count);
    if (!DecodeFingerprints({&view.removed, 1}, fingerprints.data())) return false;
    Reader days(view.removed_days);
    delta.removals.reserve(fingerprints.size());
    for (const Fingerprint fingerprint : fingerprints) {
      const int64_t day = int64_t{view.removed_first.since_epoch} + static_cast<int64_t>(days.Varint(kMax32));
      delta.removals.push_back({fingerprint, {static_cast<int32_t>(day)}});
    }
  }
  delta.segments.clear();
  delta.segments.reserve(view.segments.size());
  std::vector<RiceCode> codes;
  codes.reserve(view.segments.size());
  size_t items = 0;
  for (const SegmentView& segment : view.segments) {
    if (segment.fingerprints.count > 0) codes.push_back(segment.fingerprints);
    items += segment.fingerprints.count;
  }
  std::vector<Fingerprint> all(items);
  if (!DecodeFingerprints(codes, all.data())) return false;
  auto from = all.begin();
  for (const SegmentView& segment : view.segments) {
    const auto to = from + segment.fingerprints.count;
    delta.segments.push_back({segment.day, segment.first_second, segment.last_second, {from, to}});
    from = to;
  }
  return DecodeOthers(view, delta.others);
}

}  // namespace seen
