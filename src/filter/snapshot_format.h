#pragma once
// The kinds of filters, as they are numbered in a snapshot and named in the configuration.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/result.h"

namespace seen {

/// kAuto stands in no snapshot: FormatFor chooses.
enum class SnapshotFormat : uint8_t {
  kAuto = 0,
  kSplitBlockBloom = 1,
  kBloom = 2,
  kCountingBloom = 3,
  kDLeft = 4,
  kQuotient = 5,
  kCuckoo = 6,
  kIndexedCuckoo = 7,
  kBinaryFuse8 = 8,
  kBinaryFuse16 = 9,
  kDayChain = 10,
  kFingerprints = 11,
};

inline constexpr size_t kSnapshotFormatCount = 12;

/// By number.
inline constexpr std::array<std::string_view, kSnapshotFormatCount> kSnapshotFormatNames = {
    "auto",   "split_block_bloom", "bloom",         "counting_bloom", "d_left",    "quotient",
    "cuckoo", "indexed_cuckoo",    "binary_fuse_8", "binary_fuse_16", "day_chain", "fingerprints"};

constexpr std::string_view SnapshotFormatName(SnapshotFormat format) {
  return kSnapshotFormatNames[static_cast<size_t>(format)];
}
std::optional<SnapshotFormat> ParseSnapshotFormat(std::string_view name);

/// What a filter is to be rendered as.
struct SnapshotShape {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  double false_positive_rate = 0.01;  // (0, kRateMax]
  bool power_of_two = false;          // of blocks, where the format is kSplitBlockBloom; else no matter
  friend bool operator==(const SnapshotShape&, const SnapshotShape&) = default;
};

/// The least rate that can be asked of a format: that of a binary fuse filter is fixed, others go by any.
double LeastRate(SnapshotFormat format);

/// kInvalidArgument, naming rate and remedy, unless the format can have it.
Status CheckShape(const SnapshotShape& shape);

/// What kAuto stands for: of `count` items at the rate the format of the fewest bytes, of those without days.
/// Any thread; a look-up for counts asked before at one of the first few rates of the process.
SnapshotFormat FormatFor(size_t count, double false_positive_rate);

/// Whether a filter of this format says more than which items are in, and needs their days for it.
constexpr bool NeedsDays(SnapshotFormat format) {
  return format == SnapshotFormat::kDayChain || format == SnapshotFormat::kIndexedCuckoo;
}

/// Of what kind a snapshot's filter of `count` similar fingerprints is, whose first is rendered as `shape`:
/// the same, but split_block_bloom where that one knows days or can't be had at the rate. kAuto chooses
/// again.
SnapshotFormat SimilarFormatFor(const SnapshotShape& shape, size_t count);
/// Whether a snapshot's second filter may be of this kind.
constexpr bool CanBeSimilar(SnapshotFormat format) {
  return format != SnapshotFormat::kAuto && !NeedsDays(format);
}

/// A rate lies in (0, kRateMax]. Below kRateMin it means nothing: two fingerprints collide at 2.3e-10 a pair.
/// Asked for less, kRateMin is taken.
inline constexpr double kRateMin = 1e-9;
inline constexpr double kRateMax = 0.5;

}  // namespace seen
