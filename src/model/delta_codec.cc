// The bytes of a delta. schemas/store.md, "Delta encoding", is the specification.
#include <algorithm>

#include "model/delta_view.h"

namespace seen {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kKindExposed = 0;

uint64_t ZigZag(int32_t value) {
  return (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31);
}

using delta_bytes::PutFingerprints;

void PutRemovals(const std::vector<Removal>& removals, std::string& out) {
  std::vector<Fingerprint> fingerprints;
  fingerprints.reserve(removals.size());
  Day first = removals.front().day;
  for (const Removal& removal : removals) {
    fingerprints.push_back(removal.fingerprint);
    first = std::min(first, removal.day);
  }
  delta_bytes::PutVarint(fingerprints.size(), out);
  PutFingerprints(fingerprints, out);
  delta_bytes::PutVarint(ZigZag(first.since_epoch), out);
  for (const Removal& removal : removals) {
    delta_bytes::PutVarint(static_cast<uint64_t>(int64_t{removal.day.since_epoch} - first.since_epoch), out);
  }
}

}  // namespace

namespace delta_bytes {

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

void PutFingerprints(std::span<const Fingerprint> fingerprints, std::string& out) {
  const uint32_t parameter = RiceParameter(fingerprints.size(), fingerprints.back().value);
  out.push_back(static_cast<char>(parameter));
  PutVarint(RiceBytes(fingerprints, parameter), out);
  RiceEncode(fingerprints, parameter, out);
}

void PutHeader(uint8_t flags, std::string_view user_id, std::optional<Day> erased, std::string& out) {
  if (!user_id.empty()) flags |= kHasUserId;
  if (erased) flags |= kHasErased;
  out.push_back(static_cast<char>(kVersion));
  out.push_back(static_cast<char>(flags));
  if (!user_id.empty()) {
    PutVarint(user_id.size(), out);
    out.append(user_id);
  }
  if (erased) PutVarint(ZigZag(erased->since_epoch), out);
}

void PutDay(Day day, std::optional<Day> previous, std::string& out) {
  out.push_back(static_cast<char>(kKindExposed));
  PutVarint(previous ? static_cast<uint64_t>(int64_t{day.since_epoch} - previous->since_epoch - 1)
                     : ZigZag(day.since_epoch),
            out);
}

void PutBody(uint32_t first_second, uint32_t last_second, std::span<const Fingerprint> fingerprints,
             std::string& out) {
  PutVarint(first_second, out);
  PutVarint(last_second - first_second, out);
  PutVarint(fingerprints.size(), out);
  if (!fingerprints.empty()) PutFingerprints(fingerprints, out);
}

}  // namespace delta_bytes

void EncodeDelta(const Delta& delta, std::string& out) {
  using namespace delta_bytes;
  size_t items = delta.removals.size();
  for (const Segment& segment : delta.segments) items += segment.fingerprints.size();
  out.reserve(out.size() + delta.user_id.size() + 16 * delta.segments.size() + 4 * items + 32);
  PutHeader((delta.removals.empty() ? 0 : kHasRemovals) | (delta.HasSegments() ? kHasSegments : 0),
            delta.user_id, delta.erased, out);
  if (!delta.removals.empty()) PutRemovals(delta.removals, out);
  if (!delta.HasSegments()) return;
  PutVarint(delta.segments.size() + delta.others.size(), out);
  std::optional<Day> previous;
  for (const Segment& segment : delta.segments) {
    PutDay(segment.day, previous, out);
    PutBody(segment.first_second, segment.last_second, segment.fingerprints, out);
    previous = segment.day;
  }
  PutOthers(delta.others, out);
}

Result<Delta> DecodeDelta(std::string_view bytes) {
  if (!bytes.empty() && static_cast<uint8_t>(bytes.front()) != kVersion) {
    return Fail(Code::kCorrupt, "delta: version " + std::to_string(static_cast<uint8_t>(bytes.front())) +
                                    " is not " + std::to_string(kVersion));
  }
  DeltaView view;
  Delta delta;
  if (!ParseDelta(bytes, view) || !DecodeView(view, delta)) {
    return Fail(Code::kCorrupt,
                "delta: " + std::to_string(bytes.size()) + " bytes that are not a delta's encoding");
  }
  return delta;
}

}  // namespace seen
