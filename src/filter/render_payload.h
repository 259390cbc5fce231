#pragma once
// Renders items into a payload of any kind of filter.

#include <span>
#include <string>

#include "filter/days.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

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

}  // namespace seen
