#pragma once
// How large a cuckoo filter must be: schemas/snapshot.md, "Sizing".

#include <cstddef>
#include <cstdint>

#include "filter/cuckoo_places.h"

namespace seen {

inline constexpr size_t kCuckooCountMax = size_t{1} << 26;

/// The share of unseen fingerprints that a filter of `count` items answers "seen" to.
double CuckooRate(size_t count, CuckooShape shape);

/// The shape of the fewest bits with at least `buckets_min` buckets whose CuckooRate is at most `rate`, which
/// lies in (0, kRateMax] (Check). Each place has `more_bits` besides its entry. About 0.5 microseconds.
CuckooShape CuckooShapeFor(size_t count, double rate, uint32_t buckets_min, uint32_t more_bits);

/// How many buckets are worth trying first for a set that is known at once: it mostly fits.
uint32_t TightCuckooBuckets(size_t count);
/// After `buckets` were too few.
uint32_t MoreCuckooBuckets(uint32_t buckets);

}  // namespace seen
