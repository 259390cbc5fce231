#pragma once
// A split-block Bloom filter over fingerprints. It is exactly Parquet's over an INT32 column, so Parquet
// readers can use its blocks. Source: Parquet format, BloomFilter.md; Putze, Sanders, Singler 2007.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen::split_block_bloom {

inline constexpr size_t kBlockBytes = 32;  // eight 32-bit words, little-endian

/// The share of unseen fingerprints for which a filter of `blocks` (> 0) blocks and `count` items answers
/// "seen". Exact: the load of a block is Binomial(count, 1/blocks).
double FalsePositiveRate(size_t count, uint32_t blocks);

/// The fewest blocks, at least 1, whose FalsePositiveRate is at most `rate`, which must be in (0, kRateMax].
/// Any thread, no lock. A repeated call is a look-up, for small counts at the first few rates of the process.
/// Otherwise it takes about 5 microseconds.
uint32_t BlocksFor(size_t count, double rate);

/// The ways to compute the same answers.
enum class Kernel { kPortable, kAvx2 };
/// The fastest one that this processor has.
Kernel BestKernel();

/// Sets the bits of `fingerprints` in `blocks`: a multiple of kBlockBytes, not empty, any alignment. O(n).
void Insert(std::span<const Fingerprint> fingerprints, std::span<char> blocks, Kernel kernel = BestKernel());

/// False: certainly not inserted. `blocks` as above.
bool MightContain(std::string_view blocks, Fingerprint fingerprint, Kernel kernel = BestKernel());

/// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
void MightContainEach(std::string_view blocks, std::span<const Fingerprint> fingerprints,
                      std::span<uint8_t> answers, Kernel kernel = BestKernel());

}  // namespace seen::split_block_bloom

namespace seen {

/// Points into a payload of kind 1. Any thread.
class SplitBlockBloomView {
 public:
  /// kMalformed: not whole blocks, at least one.
  static Result<SplitBlockBloomView> Parse(std::string_view payload);
  bool MightContain(Fingerprint fingerprint) const {
    return split_block_bloom::MightContain(blocks_, fingerprint);
  }
  /// See split_block_bloom::MightContainEach.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const {
    split_block_bloom::MightContainEach(blocks_, fingerprints, answers);
  }

 private:
  explicit SplitBlockBloomView(std::string_view blocks) : blocks_(blocks) {}
  std::string_view blocks_;
};

/// Payloads of kind 1; split_block_bloom::Insert adds to one.
struct SplitBlockBloomFilter {
  static constexpr bool kSizesExactly = true;  // Render takes PayloadBytes; if false, sometimes a little more
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order. `power_of_two`: rounds the number of blocks
  /// up to a power of two, which may be more than PayloadBytes.
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out,
                     bool power_of_two = false);
};

}  // namespace seen
