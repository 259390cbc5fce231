#pragma once
// The cache lines that a look-up needs. They follow from the layouts in schemas/snapshot.md, not from our
// readers.

#include <cstddef>
#include <string_view>

#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen::bench {

/// How many different lines of 64 bytes a look-up of `fingerprint` reads. `payload` starts at a line. The
/// look-up reads one place after the other, and stops as soon as it knows the answer. The payload's own
/// fields don't count, because they are read once for all look-ups. For the exact set, all lines count: it is
/// decoded once for many look-ups.
size_t LinesNeeded(SnapshotFormat format, std::string_view payload, Fingerprint fingerprint);

}  // namespace seen::bench
