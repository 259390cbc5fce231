#pragma once
// More items into a payload that was rendered before. Nothing that it holds is lost, though nobody knows any
// longer which items these are.
//
// A filter whose places are chosen by a fixed-point product can be made k times as large without its items:
// floor(x * k * n) / k = floor(x * n), so that each place becomes k places of the same content. So the items
// that come later have room, and add little to the rate.

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
  size_t item_count = 0;           // with those of `fingerprints` that weren't in before
  double false_positive_rate = 0;  // exact, of the payload as it is now; 0 for fingerprints
};

/// Appends to `out` a payload that holds all that `payload` of `format` (CanGrow) holds, `item_count` items,
/// and `fingerprints`, unique and in any order, with room for all of them at `rate` (split-block and Bloom:
/// where the size allows, in powers of two). kMalformed: `payload` isn't of the kind. Pure, any thread, O(n).
Result<GrownPayload> GrowPayload(SnapshotFormat format, std::string_view payload, size_t item_count,
                                 std::span<const Fingerprint> fingerprints, double rate, std::string& out);

}  // namespace seen
