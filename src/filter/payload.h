#pragma once
// A payload of any kind of filter: viewed, rendered, and grown.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "filter/binary_fuse.h"
#include "filter/bloom.h"
#include "filter/cuckoo.h"
#include "filter/d_left.h"
#include "filter/day_chain.h"
#include "filter/exact_fingerprints.h"
#include "filter/indexed_cuckoo.h"
#include "filter/quotient.h"
#include "filter/snapshot_format.h"
#include "filter/split_block_bloom.h"
#include "model/hashes.h"

namespace seen {

/// A payload of any kind, checked. Points into the payload. Any thread.
using AnyView =
    std::variant<SplitBlockBloomView, BloomView, CountingBloomView, DLeftView, QuotientView, CuckooView,
                 IndexedCuckooView, BinaryFuse8View, BinaryFuse16View, DayChainView, ExactFingerprintsView>;

/// kMalformed: `payload` isn't one of `format`; the message says why. `format` isn't kAuto.
Result<AnyView> ParseView(SnapshotFormat format, std::string_view payload);

/// What a payload is rendered from.
struct SnapshotItems {
  std::span<const Fingerprint> fingerprints;  // unique, in any order
  std::span<const DayOfItems> days;           // the same items, newest day first: if NeedsDays(format)
};

/// Appends a payload of `shape`, which must be possible (CheckShape) and not kAuto. Pure, any thread; O(n),
/// and some kinds sort.
void RenderPayload(const SnapshotShape& shape, const SnapshotItems& items, std::string& out);

/// The bytes that a payload of `count` items takes. The items' gaps, or a construction that failed, may
/// change it a little. Not for kAuto, and not if NeedsDays(format).
size_t PayloadBytes(SnapshotFormat format, size_t count, double false_positive_rate);

// Adds items to a payload that was rendered before. The payload keeps all of its items, although nobody knows
// any longer which ones these are.
//
// A filter that chooses places by a fixed-point product can grow to k times its size without its items. The
// reason is floor(x * k * n) / k = floor(x * n): each place becomes k places of the same content. Later items
// have space then, and add little to the rate.

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
/// (CanGrow) and has `item_count` items. `fingerprints` are unique, in any order. The result has space for
/// all of them at `rate`; split-block and Bloom filters grow in powers of two, as far as the size allows.
/// kMalformed: `payload` isn't of the kind. Pure, any thread, O(n).
Result<GrownPayload> GrowPayload(SnapshotFormat format, std::string_view payload, size_t item_count,
                                 std::span<const Fingerprint> fingerprints, double rate, std::string& out);

}  // namespace seen
