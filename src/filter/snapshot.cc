#include "filter/snapshot.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "filter/bits.h"
#include "model/checksum.h"

namespace seen {
namespace {

// The header, version 1. All little-endian; schemas/snapshot.md is the contract.
constexpr std::string_view kMagic = "SEEN";
constexpr uint8_t kVersion = 1;
constexpr uint8_t kHashXxh64 = 1;
constexpr size_t kVersionAt = 4, kFormatAt = 5, kHashAt = 6, kFlagsAt = 7, kHeaderBytesAt = 8,
                 kSnapshotItemCountAt = 12, kAsOfAt = 16, kHorizonAt = 24, kPartitionAt = 28,
                 kInputOffsetAt = 32, kRateAt = 40, kPayloadBytesAt = 48, kChecksumAt = 52,
                 kSimilarBytesAt = 56, kSimilarFormatAt = 60, kSimilarCountAt = 64;
constexpr size_t kHeaderBytes = 56;             // what this version writes
constexpr size_t kHeaderBytesWithSimilar = 72;  // the same with kFlagSimilar
constexpr size_t kGenerationBytes = 8;          // after either of them, with kFlagUpdates
constexpr size_t kCompleteSinceBytes = 8;       // after these
constexpr size_t kHeaderBytesMax = 4096;        // the most to which later minor additions may grow it
constexpr uint8_t kFlagSimilar = 1;
constexpr uint8_t kFlagUpdates = 2;

tl::unexpected<Error> MalformedSnapshot(std::string what) {
  return Fail(Code::kMalformed, "snapshot: " + std::move(what));
}

}  // namespace

namespace {

struct SimilarFields {
  SnapshotFormat format;
  uint32_t fingerprint_count;
  size_t bytes;
};

struct First {
  SnapshotFormat format;
  size_t count;
  double rate;
};

size_t GenerationAt(bool has_similar) { return has_similar ? kHeaderBytesWithSimilar : kHeaderBytes; }

size_t CompleteSinceAt(const SnapshotMeta& meta, bool has_similar) {
  return GenerationAt(has_similar) + (meta.generation != 0 ? kGenerationBytes : 0);
}

size_t HeaderBytesOf(const SnapshotMeta& meta, bool has_similar) {
  return CompleteSinceAt(meta, has_similar) + (meta.complete_since ? kCompleteSinceBytes : 0);
}

/// Makes `bytes` an empty header, to which payloads are appended.
void BeginEnvelope(const SnapshotMeta& meta, bool has_similar, std::string& bytes) {
  bytes.assign(HeaderBytesOf(meta, has_similar), '\0');
}

void FinishEnvelope(const SnapshotMeta& meta, const First& first, const std::optional<SimilarFields>& similar,
                    std::string& bytes) {
  const std::span<char> header(bytes);
  const size_t header_bytes = HeaderBytesOf(meta, similar.has_value());
  const auto flags =
      static_cast<uint8_t>((similar ? kFlagSimilar : 0) | (meta.generation != 0 ? kFlagUpdates : 0));
  PutInteger(header, kFlagsAt, flags);
  if (similar) {
    PutInteger(header, kSimilarBytesAt, static_cast<uint32_t>(similar->bytes));
    PutInteger(header, kSimilarFormatAt, static_cast<uint8_t>(similar->format));
    PutInteger(header, kSimilarCountAt, similar->fingerprint_count);
  }
  if (meta.generation != 0) PutInteger(header, GenerationAt(similar.has_value()), meta.generation);
  if (meta.complete_since) {
    PutInteger(header, CompleteSinceAt(meta, similar.has_value()), meta.complete_since->value);
  }
  const size_t payload_bytes = bytes.size() - header_bytes;
  Check(payload_bytes <= std::numeric_limits<uint32_t>::max(), "a snapshot's payload is under 4 GiB");
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  PutInteger(header, kVersionAt, kVersion);
  PutInteger(header, kFormatAt, static_cast<uint8_t>(first.format));
  PutInteger(header, kHashAt, kHashXxh64);
  PutInteger(header, kHeaderBytesAt, static_cast<uint32_t>(header_bytes));
  PutInteger(header, kSnapshotItemCountAt, static_cast<uint32_t>(first.count));
  PutInteger(header, kAsOfAt, meta.as_of.value);
  PutInteger(header, kHorizonAt, meta.horizon.since_epoch);
  PutInteger(header, kPartitionAt, meta.partition);
  PutInteger(header, kInputOffsetAt, meta.input_offset);
  PutInteger(header, kRateAt, std::bit_cast<uint64_t>(first.rate));
  PutInteger(header, kPayloadBytesAt, static_cast<uint32_t>(payload_bytes));
  PutInteger(header, kChecksumAt, ChecksumOf(bytes, kChecksumAt));
}

/// For a snapshot whose flags say that it has these fields.
Result<SimilarFields> ParseSimilarFields(std::string_view header, std::string_view payload) {
  if (header.size() < kHeaderBytesWithSimilar) {
    return MalformedSnapshot("header_bytes " + std::to_string(header.size()) +
                             "; with what is similar it is " + std::to_string(kHeaderBytesWithSimilar) +
                             " or more");
  }
  const size_t bytes = GetInteger<uint32_t>(header, kSimilarBytesAt);
  if (bytes > payload.size()) {
    return MalformedSnapshot("similar_bytes " + std::to_string(bytes) + " of a payload of " +
                             std::to_string(payload.size()));
  }
  const auto format = GetInteger<uint8_t>(header, kSimilarFormatAt);
  if (format >= kSnapshotFormatCount || !CanBeSimilar(static_cast<SnapshotFormat>(format))) {
    return MalformedSnapshot("similar_format " + std::to_string(format) + " is unknown, or knows days");
  }
  return SimilarFields{static_cast<SnapshotFormat>(format), GetInteger<uint32_t>(header, kSimilarCountAt),
                       bytes};
}

bool Ask(const std::optional<SimilarPart>& similar, Fingerprint fingerprint) {
  if (!similar) return false;
  return std::visit([&](const auto& view) { return view.MightContain(fingerprint); }, similar->view);
}

}  // namespace

void RenderSnapshot(const SnapshotShape& shape, const SnapshotMeta& meta, const SnapshotItems& items,
                    std::string& bytes) {
  RenderSnapshot(shape, meta, items, std::nullopt, bytes);
}

void RenderSnapshot(const SnapshotShape& shape, const SnapshotMeta& meta, const SnapshotItems& items,
                    std::optional<std::span<const Fingerprint>> similar, std::string& bytes) {
  const size_t count = items.fingerprints.size();
  const double rate = shape.false_positive_rate;
  const SnapshotFormat format = shape.format == SnapshotFormat::kAuto ? FormatFor(count, rate) : shape.format;
  BeginEnvelope(meta, similar.has_value(), bytes);
  RenderPayload({format, rate, shape.power_of_two}, items, bytes);
  std::optional<SimilarFields> fields;
  if (similar) {
    const size_t first_end = bytes.size();
    const SnapshotFormat similar_format = SimilarFormatFor(shape, similar->size());
    RenderPayload({similar_format, rate, shape.power_of_two}, {*similar, {}}, bytes);
    fields = {similar_format, static_cast<uint32_t>(similar->size()), bytes.size() - first_end};
  }
  FinishEnvelope(meta, {format, count, rate}, fields, bytes);
}

bool RenderUnion(const SnapshotView& published, const SnapshotShape& shape, const SnapshotMeta& meta,
                 std::span<const Fingerprint> items, std::optional<std::span<const Fingerprint>> similar,
                 std::string& bytes) {
  const SnapshotFormat format = published.meta().format;
  const auto& second = published.similar();
  if (!CanGrow(format) || (shape.format != SnapshotFormat::kAuto && shape.format != format)) return false;
  if (shape.power_of_two && !std::has_single_bit(published.payload().size())) return false;
  if (similar && second && !CanGrow(second->format)) return false;
  double rate = shape.false_positive_rate;
  BeginEnvelope(meta, similar.has_value(), bytes);
  const auto first =
      GrowPayload(format, published.payload(), published.meta().item_count, items, rate, bytes);
  if (!first) return false;
  const First of{format, first->item_count, std::clamp(first->false_positive_rate, rate, kRateMax)};
  std::optional<SimilarFields> fields;
  if (similar) {
    const size_t first_end = bytes.size();
    fields = {second ? second->format : SimilarFormatFor(shape, similar->size()),
              static_cast<uint32_t>(similar->size()), 0};
    if (second) {
      const auto grown =
          GrowPayload(fields->format, second->payload, second->fingerprint_count, *similar, rate, bytes);
      if (!grown) return false;
      fields->fingerprint_count = static_cast<uint32_t>(grown->item_count);
    } else {
      RenderPayload({fields->format, rate, shape.power_of_two}, {*similar, {}}, bytes);
    }
    fields->bytes = bytes.size() - first_end;
  }
  FinishEnvelope(meta, of, fields, bytes);
  return true;
}

std::string RenderSnapshot(const SnapshotMeta& meta, std::span<const Fingerprint> fingerprints) {
  const SnapshotShape shape{meta.format, meta.false_positive_rate, false};
  std::string bytes;
  if (!NeedsDays(meta.format)) {
    RenderSnapshot(shape, meta, {fingerprints, {}}, bytes);
    return bytes;
  }
  std::vector<Fingerprint> sorted(fingerprints.begin(), fingerprints.end());
  std::sort(sorted.begin(), sorted.end());
  const auto start = static_cast<uint32_t>(std::max<int64_t>(0, meta.horizon.since_epoch * kSecondsPerDay));
  const DayOfItems day{meta.horizon, start, start + static_cast<uint32_t>(kSecondsPerDay - 1), sorted};
  RenderSnapshot(shape, meta, {fingerprints, {&day, 1}}, bytes);
  return bytes;
}

void DropGeneration(std::string& bytes) {
  const auto flags = GetInteger<uint8_t>(bytes, kFlagsAt);
  if ((flags & kFlagUpdates) == 0) return;
  bytes.erase(GenerationAt((flags & kFlagSimilar) != 0), kGenerationBytes);
  const std::span<char> header(bytes);
  PutInteger(header, kFlagsAt, static_cast<uint8_t>(flags & ~kFlagUpdates));
  PutInteger(header, kHeaderBytesAt,
             GetInteger<uint32_t>(bytes, kHeaderBytesAt) - static_cast<uint32_t>(kGenerationBytes));
  PutInteger(header, kChecksumAt, ChecksumOf(bytes, kChecksumAt));
}

Result<SnapshotView> SnapshotView::Parse(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return MalformedSnapshot("does not start with \"SEEN\"");
  if (bytes.size() < kHeaderBytes) {
    return MalformedSnapshot(std::to_string(bytes.size()) + " bytes; the header alone has " +
                             std::to_string(kHeaderBytes));
  }
  // The version first: the rest is known only for known versions.
  const auto version = GetInteger<uint8_t>(bytes, kVersionAt);
  if (version != kVersion) {
    return MalformedSnapshot("version " + std::to_string(version) + "; this reader knows version " +
                             std::to_string(kVersion) + ": update it");
  }
  const size_t header_bytes = GetInteger<uint32_t>(bytes, kHeaderBytesAt);
  if (header_bytes < kHeaderBytes || header_bytes > kHeaderBytesMax || header_bytes % 8 != 0) {
    return MalformedSnapshot("header_bytes " + std::to_string(header_bytes) +
                             "; a multiple of 8 in 56..4096 is allowed");
  }
  const size_t payload_bytes = GetInteger<uint32_t>(bytes, kPayloadBytesAt);
  if (bytes.size() != header_bytes + payload_bytes) {
    return MalformedSnapshot(std::to_string(bytes.size()) + " bytes; the header says " +
                             std::to_string(header_bytes + payload_bytes));
  }
  if (GetInteger<uint32_t>(bytes, kChecksumAt) != ChecksumOf(bytes, kChecksumAt))
    return MalformedSnapshot("the checksum does not match");

  const auto format = GetInteger<uint8_t>(bytes, kFormatAt);
  if (format == 0 || format >= kSnapshotFormatCount) {
    return MalformedSnapshot("format " + std::to_string(format) + " is unknown: update this reader");
  }
  const auto hash = GetInteger<uint8_t>(bytes, kHashAt);
  if (hash != kHashXxh64) return MalformedSnapshot("hash " + std::to_string(hash) + " is unknown");
  const auto flags = GetInteger<uint8_t>(bytes, kFlagsAt);
  if ((flags & ~(kFlagSimilar | kFlagUpdates)) != 0)
    return MalformedSnapshot("flags " + std::to_string(flags) + " are unknown");
  const auto rate = std::bit_cast<double>(GetInteger<uint64_t>(bytes, kRateAt));
  if (!(rate > 0 && rate <= kRateMax)) return MalformedSnapshot("false_positive_rate is not in (0, 0.5]");

  std::string_view payload = bytes.substr(header_bytes);
  const bool has_similar = (flags & kFlagSimilar) != 0;
  SimilarFields fields{};
  if (has_similar) {
    const auto parsed = ParseSimilarFields(bytes.substr(0, header_bytes), payload);
    if (!parsed) return Fail(parsed.error());
    fields = *parsed;
    payload.remove_suffix(fields.bytes);
  }
  auto view = ParseView(static_cast<SnapshotFormat>(format), payload);
  if (!view) return MalformedSnapshot(view.error().message);
  std::optional<SimilarPart> similar;
  if (has_similar) {
    const std::string_view similar_payload = bytes.substr(bytes.size() - fields.bytes);
    auto similar_view = ParseView(fields.format, similar_payload);
    if (!similar_view) return MalformedSnapshot("what is similar: " + similar_view.error().message);
    similar = {fields.format, fields.fingerprint_count, similar_payload, std::move(*similar_view)};
  }

  SnapshotMeta meta;
  meta.format = static_cast<SnapshotFormat>(format);
  meta.item_count = GetInteger<uint32_t>(bytes, kSnapshotItemCountAt);
  meta.as_of = {GetInteger<int64_t>(bytes, kAsOfAt)};
  meta.horizon = {GetInteger<int32_t>(bytes, kHorizonAt)};
  meta.partition = GetInteger<int32_t>(bytes, kPartitionAt);
  meta.input_offset = GetInteger<int64_t>(bytes, kInputOffsetAt);
  meta.false_positive_rate = rate;
  if ((flags & kFlagUpdates) != 0) {
    if (header_bytes < GenerationAt(has_similar) + kGenerationBytes)
      return MalformedSnapshot("header_bytes " + std::to_string(header_bytes) + " have no generation");
    meta.generation = GetInteger<int64_t>(bytes, GenerationAt(has_similar));
    if (meta.generation < 1)
      return MalformedSnapshot("generation " + std::to_string(meta.generation) + " is below 1");
  }
  const size_t complete_since_at = CompleteSinceAt(meta, has_similar);
  if (header_bytes >= complete_since_at + kCompleteSinceBytes) {
    const auto since_ms = GetInteger<int64_t>(bytes, complete_since_at);
    if (since_ms != 0) meta.complete_since = {since_ms};
  }
  return SnapshotView(meta, payload, std::move(*view), std::move(similar));
}

bool SnapshotView::MightContain(Fingerprint fingerprint) const {
  return std::visit([&](const auto& view) { return view.MightContain(fingerprint); }, view_);
}

void SnapshotView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                    std::span<uint8_t> answers) const {
  std::visit([&](const auto& view) { view.MightContainEach(fingerprints, answers); }, view_);
}

bool SnapshotView::MightBeNear(Fingerprint item) const { return Ask(similar_, NearFingerprintOf(item)); }

bool SnapshotView::MightHoldGroup(Fingerprint group) const {
  return Ask(similar_, GroupFingerprintOf(group));
}

}  // namespace seen
