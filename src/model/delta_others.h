#pragma once
// How segments of other kinds than exposed are made and composed. Used inside model only. The laws are those
// of model/delta.h.

#include <compare>
#include <span>
#include <vector>

#include "model/delta.h"

namespace seen {

/// A fingerprint with the value that its kind keeps beside it; 0 if there is none.
struct OtherEntry {
  Fingerprint fingerprint;
  uint32_t time = 0;
  friend auto operator<=>(const OtherEntry&, const OtherEntry&) = default;
};

/// Sets the entries of `segment` to `entries` (sorted, unique), as far as its kind keeps them.
void SetEntries(OtherSegment& segment, std::span<const OtherEntry> entries);

/// Keeps the fingerprints that are among the `items_max` smallest. `removals` count, too.
void CutOther(OtherSegment& segment, const std::vector<Removal>& removals, uint32_t items_max);

/// Composes the other segments of both deltas. `removals`: those of the composed delta.
std::vector<OtherSegment> ComposeOthers(const Delta& earlier, const Delta& later,
                                        const std::vector<Removal>& removals, const DeltaLimits& limits);

}  // namespace seen
