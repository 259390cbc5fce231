#include "filter/snapshot.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/check.h"
#include "filter/bits.h"
#include "filter/split_block_bloom.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace seen {
namespace {

// The header, version 1. All little-endian; schemas/snapshot.md is the contract.
constexpr std::string_view kMagic = "SEEN";
constexpr uint8_t kVersion = 1;
constexpr uint8_t kHashXxh64 = 1;
constexpr size_t kVersionAt = 4, kFormatAt = 5, kHashAt = 6, kFlagsAt = 7, kHeaderBytesAt = 8,
                 kItemCountAt = 12, kAsOfAt = 16, kHorizonAt = 24, kPartitionAt = 28, kInputOffsetAt = 32,
                 kRateAt = 40, kPayloadBytesAt = 48, kChecksumAt = 52;
constexpr size_t kHeaderBytes = 56;       // what this version writes
constexpr size_t kHeaderBytesMax = 4096;  // what a later minor addition may grow it to

uint32_t ChecksumOf(std::string_view bytes) {
  XXH64_state_t state;
  XXH64_reset(&state, 0);
  XXH64_update(&state, bytes.data(), kChecksumAt);
  XXH64_update(&state, bytes.data() + kChecksumAt + 4, bytes.size() - kChecksumAt - 4);
  return static_cast<uint32_t>(XXH64_digest(&state));
}

tl::unexpected<Error> Malformed(std::string what) {
  return Fail(Code::kMalformed, "snapshot: " + std::move(what));
}

}  // namespace

void RenderSnapshot(const SnapshotMeta& meta, std::span<const Fingerprint> fingerprints, std::string& bytes) {
  Check(meta.format == SnapshotFormat::kSplitBlockBloom, "no such snapshot format");
  const size_t payload_bytes = split_block_bloom::kBlockBytes *
                               split_block_bloom::BlocksFor(fingerprints.size(), meta.false_positive_rate);
  Check(payload_bytes <= std::numeric_limits<uint32_t>::max(), "a snapshot's payload is under 4 GiB");
  bytes.assign(kHeaderBytes + payload_bytes, '\0');
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  PutInteger(std::span(bytes), kVersionAt, kVersion);
  PutInteger(std::span(bytes), kFormatAt, static_cast<uint8_t>(meta.format));
  PutInteger(std::span(bytes), kHashAt, kHashXxh64);
  PutInteger(std::span(bytes), kHeaderBytesAt, static_cast<uint32_t>(kHeaderBytes));
  PutInteger(std::span(bytes), kItemCountAt, static_cast<uint32_t>(fingerprints.size()));
  PutInteger(std::span(bytes), kAsOfAt, meta.as_of.value);
  PutInteger(std::span(bytes), kHorizonAt, meta.horizon.since_epoch);
  PutInteger(std::span(bytes), kPartitionAt, meta.partition);
  PutInteger(std::span(bytes), kInputOffsetAt, meta.input_offset);
  PutInteger(std::span(bytes), kRateAt, std::bit_cast<uint64_t>(meta.false_positive_rate));
  PutInteger(std::span(bytes), kPayloadBytesAt, static_cast<uint32_t>(payload_bytes));
  split_block_bloom::Insert(fingerprints, std::span(bytes).subspan(kHeaderBytes));
  PutInteger(std::span(bytes), kChecksumAt, ChecksumOf(bytes));
}

std::string RenderSnapshot(const SnapshotMeta& meta, std::span<const Fingerprint> fingerprints) {
  std::string bytes;
  RenderSnapshot(meta, fingerprints, bytes);
  return bytes;
}

Result<SnapshotView> SnapshotView::Parse(std::string_view bytes) {
  if (bytes.substr(0, kMagic.size()) != kMagic) return Malformed("does not start with \"SEEN\"");
  if (bytes.size() < kHeaderBytes) {
    return Malformed(std::to_string(bytes.size()) + " bytes; the header alone has " +
                     std::to_string(kHeaderBytes));
  }
  // The version first: what follows it is only known for versions known.
  const auto version = GetInteger<uint8_t>(bytes, kVersionAt);
  if (version != kVersion) {
    return Malformed("version " + std::to_string(version) + "; this reader knows version " +
                     std::to_string(kVersion) + ": update it");
  }
  const size_t header_bytes = GetInteger<uint32_t>(bytes, kHeaderBytesAt);
  if (header_bytes < kHeaderBytes || header_bytes > kHeaderBytesMax || header_bytes % 8 != 0) {
    return Malformed("header_bytes " + std::to_string(header_bytes) +
                     "; a multiple of 8 in 56..4096 is allowed");
  }
  const size_t payload_bytes = GetInteger<uint32_t>(bytes, kPayloadBytesAt);
  if (bytes.size() != header_bytes + payload_bytes) {
    return Malformed(std::to_string(bytes.size()) + " bytes; the header says " +
                     std::to_string(header_bytes + payload_bytes));
  }
  if (GetInteger<uint32_t>(bytes, kChecksumAt) != ChecksumOf(bytes))
    return Malformed("the checksum does not match");

  const auto format = GetInteger<uint8_t>(bytes, kFormatAt);
  if (format != static_cast<uint8_t>(SnapshotFormat::kSplitBlockBloom)) {
    return Malformed("format " + std::to_string(format) + " is unknown");
  }
  const auto hash = GetInteger<uint8_t>(bytes, kHashAt);
  if (hash != kHashXxh64) return Malformed("hash " + std::to_string(hash) + " is unknown");
  const auto flags = GetInteger<uint8_t>(bytes, kFlagsAt);
  if (flags != 0) return Malformed("flags " + std::to_string(flags) + " are unknown");
  if (payload_bytes == 0 || payload_bytes % split_block_bloom::kBlockBytes != 0) {
    return Malformed("payload_bytes " + std::to_string(payload_bytes) +
                     "; blocks of 32 bytes, at least one, are allowed");
  }
  const auto rate = std::bit_cast<double>(GetInteger<uint64_t>(bytes, kRateAt));
  if (!(rate > 0 && rate <= kRateMax)) return Malformed("false_positive_rate is not in (0, 0.5]");

  SnapshotView view;
  view.meta_.format = SnapshotFormat::kSplitBlockBloom;
  view.meta_.item_count = GetInteger<uint32_t>(bytes, kItemCountAt);
  view.meta_.as_of = {GetInteger<int64_t>(bytes, kAsOfAt)};
  view.meta_.horizon = {GetInteger<int32_t>(bytes, kHorizonAt)};
  view.meta_.partition = GetInteger<int32_t>(bytes, kPartitionAt);
  view.meta_.input_offset = GetInteger<int64_t>(bytes, kInputOffsetAt);
  view.meta_.false_positive_rate = rate;
  view.payload_ = bytes.substr(header_bytes);
  return view;
}

bool SnapshotView::MightContain(Fingerprint fingerprint) const {
  return split_block_bloom::MightContain(payload_, fingerprint);
}

void SnapshotView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                    std::span<uint8_t> answers) const {
  split_block_bloom::MightContainEach(payload_, fingerprints, answers);
}

}  // namespace seen
