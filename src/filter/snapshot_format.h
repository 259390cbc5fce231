#pragma once
// The kinds of filters: their numbers in a snapshot, and their names in the configuration.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/day.h"
#include "model/hashes.h"

namespace seen {

/// Items by the day that they count for, for kinds of filters that also know days. Points to the
/// fingerprints, which are unique and ascending.
struct DayOfItems {
  Day day;
  uint32_t first_second = 0, last_second = 0;  // since 1970; none of its items is earlier or later
  std::span<const Fingerprint> fingerprints;
};
inline size_t ItemsIn(std::span<const DayOfItems> days) {
  size_t count = 0;
  for (const DayOfItems& day : days) count += day.fingerprints.size();
  return count;
}

inline constexpr size_t kFilterItemsMax = size_t{1} << 26;
/// The error of a payload that no writer makes. `what` begins with the kind of filter.
inline tl::unexpected<Error> Malformed(const std::string& what) {
  return Fail(Code::kMalformed, "payload: " + what);
}

/// kAuto is in no snapshot: FormatFor chooses.
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

/// How to render a filter.
struct SnapshotShape {
  SnapshotFormat format = SnapshotFormat::kSplitBlockBloom;
  double false_positive_rate = 0.01;  // (0, kRateMax]
  bool power_of_two = false;          // of blocks, if the format is kSplitBlockBloom; else ignored
  friend bool operator==(const SnapshotShape&, const SnapshotShape&) = default;
};

/// The lowest rate that a format accepts. The rate of a binary fuse filter is fixed; that of others is
/// kRateMin.
double LeastRate(SnapshotFormat format);

/// kInvalidArgument: the format can't have the rate. The message names rate and remedy.
Status CheckShape(const SnapshotShape& shape);

/// The format that kAuto means: the one that takes the fewest bytes for `count` items at the rate, of those
/// without days. Any thread. A repeated call is a look-up, for small counts at the first few rates of the
/// process.
SnapshotFormat FormatFor(size_t count, double false_positive_rate);

/// Whether a filter of this format needs the days of its items, because it also knows days.
constexpr bool NeedsDays(SnapshotFormat format) {
  return format == SnapshotFormat::kDayChain || format == SnapshotFormat::kIndexedCuckoo;
}

/// The kind of a snapshot's filter of `count` similar fingerprints, if its first filter is rendered as
/// `shape`. It is the same kind, or split_block_bloom if the first one knows days or can't have the rate.
/// kAuto chooses again.
SnapshotFormat SimilarFormatFor(const SnapshotShape& shape, size_t count);
/// Whether a snapshot's second filter may be of this kind.
constexpr bool CanBeSimilar(SnapshotFormat format) {
  return format != SnapshotFormat::kAuto && !NeedsDays(format);
}

/// A rate is in (0, kRateMax]. A rate below kRateMin means nothing, because two fingerprints collide with
/// probability 2.3e-10. CheckShape refuses it, and elsewhere it counts as kRateMin.
inline constexpr double kRateMin = 1e-9;
inline constexpr double kRateMax = 0.5;

}  // namespace seen
