#pragma once
// From items to the payload of any kind of filter.

#include <span>
#include <string>

#include "filter/days.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

struct SnapshotItems {
  std::span<const Fingerprint> fingerprints;  // unique, in any order
  std::span<const DayOfItems> days;           // the same, newest day first: where NeedsDays(format)
};

/// Appends a payload of `shape`, which must be possible (CheckShape) and not kAuto. Pure, any thread; O(n),
/// but that some kinds sort.
void RenderPayload(const SnapshotShape& shape, const SnapshotItems& items, std::string& out);

/// How many bytes a payload of `count` items takes, give or take what their own gaps or a construction that
/// failed add. Not of kAuto or where NeedsDays(format).
size_t PayloadBytes(SnapshotFormat format, size_t count, double false_positive_rate);

}  // namespace seen
