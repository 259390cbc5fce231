#pragma once
// Adds items to a payload that was rendered before. The payload keeps all of its items, although nobody knows
// any longer which ones these are.
//
// A filter that chooses places by a fixed-point product can grow to k times its size without its items. The
// reason is floor(x * k * n) / k = floor(x * n): each place becomes k places of the same content. Later items
// have room then, and add little to the rate.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

/// Whether a payload of the kind takes more items.
constexpr bool CanGrow(SnapshotFormat format) {
  return format == SnapshotFormat::kSplitBlockBloom || format == SnapshotFormat::kBloom ||
         format == SnapshotFormat::kFingerprints;
}

struct GrownPayload {
  size_t item_count = 0;           // including those of `fingerprints` that weren't in before
  double false_positive_rate = 0;  // exact, of the grown payload; 0 for kFingerprints
};

/// Appends to `out` a payload with all items of `payload` and all of `fingerprints`. `payload` is of `format`
/// (CanGrow) and has `item_count` items. `fingerprints` are unique, in any order. The result has room for all
/// of them at `rate`; split-block and Bloom filters grow in powers of two, as far as the size allows.
/// kMalformed: `payload` isn't of the kind. Pure, any thread, O(n).
Result<GrownPayload> GrowPayload(SnapshotFormat format, std::string_view payload, size_t item_count,
                                 std::span<const Fingerprint> fingerprints, double rate, std::string& out);

}  // namespace seen
