#pragma once
// The size of a cuckoo filter: schemas/snapshot.md, "Sizing".

#include <cstddef>
#include <cstdint>

#include "filter/cuckoo_places.h"

namespace seen {

inline constexpr size_t kCuckooCountMax = size_t{1} << 26;

/// The share of unseen fingerprints for which a filter of `count` items answers "seen".
double CuckooRate(size_t count, CuckooShape shape);

/// The shape with the fewest bits that has at least `buckets_min` buckets and a CuckooRate of at most `rate`.
/// `rate` is in (0, kRateMax] (Check). Each place has `more_bits` besides its entry. About 0.5 microseconds.
CuckooShape CuckooShapeFor(size_t count, double rate, uint32_t buckets_min, uint32_t more_bits);

/// The number of buckets to try first for a set that is known as a whole: most sets fit.
uint32_t TightCuckooBuckets(size_t count);
/// The number to try after `buckets` were too few.
uint32_t MoreCuckooBuckets(uint32_t buckets);

}  // namespace seen
