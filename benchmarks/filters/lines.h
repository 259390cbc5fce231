#pragma once
// Cache lines that a look-up needs, derived from the layouts in schemas/snapshot.md and not from our readers.

#include <cstddef>
#include <string_view>

#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen::bench {

/// How many different lines of 64 bytes of `payload`, which starts with one, a look-up of `fingerprint` reads
/// if it reads one place after the other and stops as soon as it knows. A payload's own fields don't count:
/// they are read once for all look-ups. Of the exact set, which is decoded for many look-ups at once: all.
size_t LinesNeeded(SnapshotFormat format, std::string_view payload, Fingerprint fingerprint);

}  // namespace seen::bench
