#pragma once
// How large a Bloom filter must be, of bits or of counters: what kinds 2 and 3 share.

#include <cstddef>
#include <cstdint>

namespace seen::bloom {

inline constexpr uint32_t kProbesMax = 32;
/// A payload's bytes behind the first, at most: the number of bits must fit 32 bits.
inline constexpr uint32_t kPlaceBytesMax = (uint32_t{1} << 29) - 1;

struct Size {
  uint32_t probes;       // places that an item sets, drawn one by one: 1 to kProbesMax
  uint32_t place_bytes;  // at least 1
};

/// The share of items never inserted that find all their `probes` places set, among `places` (> 0) of which
/// `count` items have set theirs. Exact, over all sets and items, to within 1e-14
/// (1e-10 with more than 20 probes). About a microsecond.
double FalsePositiveRate(size_t count, uint32_t probes, uint32_t places);

/// The fewest bytes, and then the fewest probes, whose FalsePositiveRate is at most `rate`, in (0, kRateMax]
/// (kRateMin where it is less), with `places_per_byte` 8 (bits) or 2 (counters). Any thread, no lock; a
/// look-up for counts asked before at one of the first few rates of the process, else about 20 microseconds.
Size SizeFor(size_t count, double rate, uint32_t places_per_byte);

}  // namespace seen::bloom
