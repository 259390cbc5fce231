#pragma once
// The size of a Bloom filter, of bits or of counters, for kinds 2 and 3.

#include <cstddef>
#include <cstdint>

namespace seen::bloom {

inline constexpr uint32_t kProbesMax = 32;
/// The most bytes of a payload after its first one: the number of bits must fit into 32 bits.
inline constexpr uint32_t kPlaceBytesMax = (uint32_t{1} << 29) - 1;

struct Size {
  uint32_t probes;       // places that an item sets, drawn one by one: 1 to kProbesMax
  uint32_t place_bytes;  // at least 1
};

/// The share of items never inserted whose `probes` places are all set, in a filter of `places` (> 0) places
/// and `count` items. Exact, over all sets and items, to within 1e-14 (1e-10 with more than 20 probes). About
/// a microsecond.
double FalsePositiveRate(size_t count, uint32_t probes, uint32_t places);

/// The fewest bytes, and then the fewest probes, whose FalsePositiveRate is at most `rate`.
/// `rate`: in (0, kRateMax]; below kRateMin it counts as kRateMin. `places_per_byte`: 8 (bits) or 2
/// (counters). Any thread, no lock. A repeated call is a look-up, for small counts at the first few rates of
/// the process. Otherwise it takes about 20 microseconds.
Size SizeFor(size_t count, double rate, uint32_t places_per_byte);

}  // namespace seen::bloom
