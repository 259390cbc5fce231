#include "model/delta_view.h"

#include <algorithm>
#include <limits>

#include "model/event.h"

namespace seen {
namespace {

constexpr uint8_t kVersion = 1;
constexpr uint8_t kKindExposed = 0;
constexpr uint64_t kMax32 = std::numeric_limits<uint32_t>::max();

int32_t UnZigZag(uint64_t value) {
  return static_cast<int32_t>((static_cast<uint32_t>(value) >> 1) ^
                              (0u - (static_cast<uint32_t>(value) & 1)));
}

// Reads fields until one is bad; from then on everything reads as zero and `ok()` is false.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : at_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  bool ok() const { return ok_; }
  bool AtEnd() const { return at_ == end_; }
  const char* at() const { return at_; }
  void Fail() { ok_ = false, at_ = end_; }
  void Require(bool condition) {
    if (!condition) Fail();
  }

  uint8_t Byte() {
    if (at_ == end_) return Fail(), uint8_t{0};
    return static_cast<uint8_t>(*at_++);
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
  Day ReadDay() { return {UnZigZag(Varint(kMax32))}; }
  std::string_view Bytes(uint64_t count) {
    if (count > static_cast<uint64_t>(end_ - at_)) return Fail(), std::string_view{};
    at_ += count;
    return {at_ - count, static_cast<size_t>(count)};
  }
  RiceCode Code(uint64_t count) {
    RiceCode code;
    code.count = static_cast<uint32_t>(count);
    code.parameter = Byte();
    code.bytes = Bytes(Varint(kMax32));
    code.slack = static_cast<uint32_t>(std::min<std::ptrdiff_t>(8, end_ - at_));
    if (!code.Plausible()) Fail();
    return code;
  }

 private:
  const char* at_;
  const char* end_;
  bool ok_ = true;
};

void ParseRemovals(Reader& reader, DeltaView& view) {
  const uint64_t count = reader.Varint(kMax32);
  reader.Require(count > 0);
  view.removed = reader.Code(count);
  view.removed_first = reader.ReadDay();
  const char* const days = reader.at();
  bool first_is_met = false;
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    const uint64_t after = reader.Varint(kMax32);
    reader.Require(int64_t{view.removed_first.since_epoch} + static_cast<int64_t>(after) <=
                   std::numeric_limits<int32_t>::max());
    first_is_met |= after == 0;
  }
  reader.Require(first_is_met);
  if (reader.ok()) view.removed_days = {days, static_cast<size_t>(reader.at() - days)};
}

void ParseSegments(Reader& reader, std::vector<SegmentView>& segments) {
  const uint64_t count = reader.Varint(kMax32);
  reader.Require(count > 0);
  for (uint64_t i = 0; i < count && reader.ok(); ++i) {
    SegmentView segment;
    const char* const whole = reader.at();
    reader.Require(reader.Byte() == kKindExposed);
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
  Reader reader(bytes);
  reader.Require(reader.Byte() == kVersion);
  const uint8_t flags = reader.Byte();
  reader.Require(flags < 2 * delta_bytes::kHasSegments);
  if (flags & delta_bytes::kHasUserId) {
    const uint64_t length = reader.Varint(kIdBytesMax);
    reader.Require(length > 0);
    view.user_id = reader.Bytes(length);
  }
  if (flags & delta_bytes::kHasErased) view.erased = reader.ReadDay();
  if (flags & delta_bytes::kHasRemovals) ParseRemovals(reader, view);
  if (flags & delta_bytes::kHasSegments) ParseSegments(reader, view.segments);
  return reader.ok() && reader.AtEnd();
}

bool DecodeFingerprints(std::span<const RiceCode> codes, Fingerprint* to) {
  if (!RiceDecode(codes, to)) return false;
  for (const RiceCode& code : codes) {
    to += code.count;
    if (code.parameter != RiceParameter(code.count, to[-1].value)) return false;
  }
  return true;
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
  return true;
}

}  // namespace seen
