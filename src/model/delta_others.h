#pragma once
// How segments of other kinds than exposed are made and composed. Inside model only; the laws are those of
// model/delta.h.

#include <compare>
#include <span>
#include <vector>

#include "model/delta.h"

namespace seen {

/// A fingerprint with what its kind keeps beside it; 0 where that is nothing.
struct OtherEntry {
  Fingerprint fingerprint;
  uint32_t time = 0;
  friend auto operator<=>(const OtherEntry&, const OtherEntry&) = default;
};

/// Makes `entries` (sorted, unique) those of `segment`, as far as its kind keeps them.
void SetEntries(OtherSegment& segment, std::span<const OtherEntry> entries);

/// Keeps the fingerprints that are among the `items_max` smallest, counting `removals`.
void CutOther(OtherSegment& segment, const std::vector<Removal>& removals, uint32_t items_max);

/// What becomes of both deltas' others. `removals`: of the composed delta.
std::vector<OtherSegment> ComposeOthers(const Delta& earlier, const Delta& later,
                                        const std::vector<Removal>& removals, const DeltaLimits& limits);

}  // namespace seen
