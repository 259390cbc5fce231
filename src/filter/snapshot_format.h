#pragma once
// The kinds of filters, as they are numbered in a snapshot and named in the configuration.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

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

/// A rate lies in (0, kRateMax]. Below kRateMin it means nothing: two fingerprints collide at 2.3e-10 a pair.
/// Asked for less, kRateMin is taken.
inline constexpr double kRateMin = 1e-9;
inline constexpr double kRateMax = 0.5;

}  // namespace seen
