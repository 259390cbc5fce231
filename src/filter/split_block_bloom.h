#pragma once
// A split-block Bloom filter over fingerprints: exactly Parquet's over an INT32 column, so that Parquet
// readers take its blocks as they are. Source: Parquet format, BloomFilter.md; Putze, Sanders, Singler 2007.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "model/fingerprint.h"

namespace seen::split_block_bloom {

inline constexpr size_t kBlockBytes = 32;  // eight 32-bit words, little-endian

/// Below this a rate means nothing: two fingerprints collide at 2.3e-10 a pair. Asked for less, this is
/// taken.
inline constexpr double kRateMin = 1e-9;
inline constexpr double kRateMax = 0.5;

/// The share of unseen fingerprints that a filter of `blocks` (> 0) holding `count` answers "seen" to: exact,
/// with the load of a block Binomial(count, 1/blocks).
double FalsePositiveRate(size_t count, uint32_t blocks);

/// The fewest blocks, at least 1, whose FalsePositiveRate is at most `rate`, which must lie in (0, kRateMax].
/// Any thread, no lock; a look-up for counts met before at one of the first few rates of the process, else
/// about 5 microseconds.
uint32_t BlocksFor(size_t count, double rate);

/// How the same answers are computed.
enum class Kernel { kPortable, kAvx2 };
/// The fastest one this processor has.
Kernel BestKernel();

/// Sets the bits of `fingerprints` in `blocks`: a multiple of kBlockBytes, not empty, any alignment. O(n).
void Insert(std::span<const Fingerprint> fingerprints, std::span<char> blocks, Kernel kernel = BestKernel());

/// False: certainly not inserted. `blocks` as above.
bool MightContain(std::string_view blocks, Fingerprint fingerprint, Kernel kernel = BestKernel());

/// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
void MightContainEach(std::string_view blocks, std::span<const Fingerprint> fingerprints,
                      std::span<uint8_t> answers, Kernel kernel = BestKernel());

}  // namespace seen::split_block_bloom
