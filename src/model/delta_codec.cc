// The bytes of a delta. schemas/store.md, "Delta encoding", is the specification.
#include <bit>
#include <limits>

#include "model/delta.h"
#include "model/event.h"
#include "model/rice.h"

namespace seen {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kHasUserId = 1;
constexpr uint8_t kHasErased = 2;
constexpr uint8_t kHasRemovals = 4;
constexpr uint8_t kHasSegments = 8;
constexpr uint8_t kKindExposed = 0;

void PutVarint(uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<char>(value | 0x80));
  out.push_back(static_cast<char>(value));
}

uint64_t ZigZag(int32_t value) {
  return (static_cast<uint32_t>(value) << 1) ^ static_cast<uint32_t>(value >> 31);
}
int32_t UnZigZag(uint64_t value) {
  return static_cast<int32_t>((static_cast<uint32_t>(value) >> 1) ^
                              (0u - (static_cast<uint32_t>(value) & 1)));
}

void PutFingerprints(std::span<const Fingerprint> fingerprints, std::string& out, std::string& scratch) {
  const uint32_t parameter = RiceParameter(fingerprints.size(), fingerprints.back().value);
  scratch.clear();
  RiceEncode(fingerprints, parameter, scratch);
  out.push_back(static_cast<char>(parameter));
  PutVarint(scratch.size(), out);
  out.append(scratch);
}

// Reads fields until one is bad; from then on everything reads as zero and `ok()` is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : left_(bytes) {}
  bool ok() const { return ok_; }
  bool AtEnd() const { return left_.empty(); }
  void Fail() { ok_ = false, left_ = {}; }
  void Require(bool condition) {
    if (!condition) Fail();
  }

  uint8_t Byte() {
    if (left_.empty()) return Fail(), uint8_t{0};
    const auto byte = static_cast<uint8_t>(left_.front());
    left_.remove_prefix(1);
    return byte;
  }
  // At most `max`; shortest form only, since equal deltas have equal bytes.
  uint64_t Varint(uint64_t max) {
    uint64_t value = 0;
    for (uint32_t shift = 0; shift < 63; shift += 7) {
      const uint8_t byte = Byte();
      value |= uint64_t{byte & 0x7fu} << shift;
      if (byte & 0x80) continue;
      if ((byte == 0 && shift > 0) || value > max) break;
      return value;
    }
    return Fail(), 0;
  }
  Day ReadDay() { return {UnZigZag(Varint(std::numeric_limits<uint32_t>::max()))}; }
  std::string_view Bytes(uint64_t count) {
    if (count > left_.size()) return Fail(), std::string_view{};
    const std::string_view bytes = left_.substr(0, count);
    left_.remove_prefix(count);
    return bytes;
  }
  void ReadFingerprints(uint64_t count, std::vector<Fingerprint>& out) {
    const uint32_t parameter = Byte();
    const std::string_view code = Bytes(Varint(std::numeric_limits<uint32_t>::max()));
    if (!ok_ || !RiceDecode(code, count, parameter, out)) return Fail();
    Require(parameter == RiceParameter(count, out.back().value));
  }

 private:
  std::string_view left_;
  bool ok_ = true;
};

void ReadRemovals(Reader& reader, std::vector<Removal>& removals) {
  const uint64_t count = reader.Varint(std::numeric_limits<uint32_t>::max());
  reader.Require(count > 0);
  std::vector<Fingerprint> fingerprints;
  if (reader.ok()) reader.ReadFingerprints(count, fingerprints);
  if (!reader.ok()) return;
  const int64_t first = reader.ReadDay().since_epoch;
  removals.reserve(count);
  bool first_is_met = false;
  for (const Fingerprint fingerprint : fingerprints) {
    const int64_t day = first + static_cast<int64_t>(reader.Varint(std::numeric_limits<uint32_t>::max()));
    reader.Require(day <= std::numeric_limits<int32_t>::max());
    if (!reader.ok()) return;
    first_is_met |= day == first;
    removals.push_back({fingerprint, {static_cast<int32_t>(day)}});
  }
  reader.Require(first_is_met);
}

void ReadSegments(Reader& reader, std::vector<Segment>& segments) {
  const uint64_t count = reader.Varint(std::numeric_limits<uint32_t>::max());
  reader.Require(count > 0);
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    reader.Require(reader.Byte() == kKindExposed);
    Segment segment;
    if (i == 0) {
      segment.day = reader.ReadDay();
    } else {
      const int64_t day = int64_t{segments.back().day.since_epoch} + 1 +
                          static_cast<int64_t>(reader.Varint(std::numeric_limits<uint32_t>::max()));
      reader.Require(day <= std::numeric_limits<int32_t>::max());
      segment.day = {static_cast<int32_t>(day)};
    }
    segment.first_second = static_cast<uint32_t>(reader.Varint(kSecondsPerDay - 1));
    segment.last_second = segment.first_second +
                          static_cast<uint32_t>(reader.Varint(kSecondsPerDay - 1 - segment.first_second));
    const uint64_t items = reader.Varint(std::numeric_limits<uint32_t>::max());
    if (reader.ok() && items > 0) reader.ReadFingerprints(items, segment.fingerprints);
    if (reader.ok()) segments.push_back(std::move(segment));
  }
}

}  // namespace

void EncodeDelta(const Delta& delta, std::string& out) {
  std::string scratch;
  out.push_back(static_cast<char>(kVersion));
  out.push_back(static_cast<char>((delta.user_id.empty() ? 0 : kHasUserId) | (delta.erased ? kHasErased : 0) |
                                  (delta.removals.empty() ? 0 : kHasRemovals) |
                                  (delta.segments.empty() ? 0 : kHasSegments)));
  if (!delta.user_id.empty()) {
    PutVarint(delta.user_id.size(), out);
    out.append(delta.user_id);
  }
  if (delta.erased) PutVarint(ZigZag(delta.erased->since_epoch), out);
  if (!delta.removals.empty()) {
    std::vector<Fingerprint> fingerprints;
    fingerprints.reserve(delta.removals.size());
    Day first = delta.removals.front().day;
    for (const Removal& removal : delta.removals) {
      fingerprints.push_back(removal.fingerprint);
      first = std::min(first, removal.day);
    }
    PutVarint(fingerprints.size(), out);
    PutFingerprints(fingerprints, out, scratch);
    PutVarint(ZigZag(first.since_epoch), out);
    for (const Removal& removal : delta.removals) {
      PutVarint(static_cast<uint64_t>(int64_t{removal.day.since_epoch} - first.since_epoch), out);
    }
  }
  if (delta.segments.empty()) return;
  PutVarint(delta.segments.size(), out);
  const Segment* previous = nullptr;
  for (const Segment& segment : delta.segments) {
    out.push_back(static_cast<char>(kKindExposed));
    PutVarint(previous
                  ? static_cast<uint64_t>(int64_t{segment.day.since_epoch} - previous->day.since_epoch - 1)
                  : ZigZag(segment.day.since_epoch),
              out);
    PutVarint(segment.first_second, out);
    PutVarint(segment.last_second - segment.first_second, out);
    PutVarint(segment.fingerprints.size(), out);
    if (!segment.fingerprints.empty()) PutFingerprints(segment.fingerprints, out, scratch);
    previous = &segment;
  }
}

Result<Delta> DecodeDelta(std::string_view bytes) {
  Reader reader(bytes);
  Delta delta;
  const uint8_t version = reader.Byte();
  if (reader.ok() && version != kVersion) {
    return Fail(Code::kCorrupt, "delta: version " + std::to_string(version) + " is not 1");
  }
  const uint8_t flags = reader.Byte();
  reader.Require(flags < 2 * kHasSegments);
  if (flags & kHasUserId) {
    const uint64_t length = reader.Varint(kIdBytesMax);
    reader.Require(length > 0);
    delta.user_id = reader.Bytes(length);
  }
  if (flags & kHasErased) delta.erased = reader.ReadDay();
  if (flags & kHasRemovals) ReadRemovals(reader, delta.removals);
  if (flags & kHasSegments) ReadSegments(reader, delta.segments);
  if (!reader.ok() || !reader.AtEnd()) {
    return Fail(Code::kCorrupt,
                "delta: " + std::to_string(bytes.size()) + " bytes that are not a delta's encoding");
  }
  return delta;
}

}  // namespace seen
