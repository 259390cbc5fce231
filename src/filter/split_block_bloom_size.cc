// How many blocks a split-block Bloom filter needs: the exact formula, and a memo of its answers.

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>

#include "base/check.h"
#include "filter/split_block_bloom.h"

namespace seen::split_block_bloom {
namespace {

// A rate of 1e-9 takes under 64 bytes an item; a payload's size must fit 32 bits.
constexpr size_t kCountMax = size_t{1} << 26;

uint32_t ComputeBlocks(size_t count, double rate) {
  if (FalsePositiveRate(count, 1) <= rate) return 1;
  uint32_t too_few = 1;
  uint32_t enough = 2;
  while (FalsePositiveRate(count, enough) > rate) {
    too_few = enough;
    enough *= 2;
  }
  while (enough - too_few > 1) {
    const uint32_t middle = too_few + (enough - too_few) / 2;
    (FalsePositiveRate(count, middle) > rate ? too_few : enough) = middle;
  }
  return enough;
}

/// The answers at one rate. A daemon has one rate a filter: few in all, and set at the start.
struct RateMemo {
  static constexpr size_t kCounts = 16'384;             // 64 KiB, touched only as far as counts are met
  std::atomic<uint64_t> rate_bits{0};                   // 0: free. No rate has these bits, zero being none.
  std::array<std::atomic<uint32_t>, kCounts> blocks{};  // 0: not known yet
};
constexpr size_t kRates = 8;
constinit std::array<RateMemo, kRates> rate_memos;

/// The memo for `rate`; null when all are taken by others. They are never given up, so a reader needs no
/// lock.
RateMemo* MemoOf(double rate) {
  const auto bits = std::bit_cast<uint64_t>(rate);
  for (RateMemo& memo : rate_memos) {
    uint64_t found = memo.rate_bits.load(std::memory_order_relaxed);
    if (found == 0 && memo.rate_bits.compare_exchange_strong(found, bits, std::memory_order_relaxed))
      return &memo;
    if (found == bits) return &memo;
  }
  return nullptr;
}

}  // namespace

double FalsePositiveRate(size_t count, uint32_t blocks) {
  Check(blocks > 0, "a filter has at least one block");
  // A block of j items answers "seen" with (1 - (31/32)^j)^8. Expanded by the binomial theorem, the mean over
  // j ~ Binomial(count, p) is a sum of nine of its generating function's values: E[s^j] = (1 - p (1 -
  // s))^count.
  constexpr std::array<double, 9> kSignedChoose = {1, -8, 28, -56, 70, -56, 28, -8, 1};
  const double p = 1.0 / blocks;
  const auto n = static_cast<double>(count);
  double rate = 0;
  double s = 1;
  for (const double choose : kSignedChoose) {
    rate += choose * std::exp(n * std::log1p(-p * (1 - s)));
    s *= 31.0 / 32.0;
  }
  return std::max(rate, 0.0);
}

uint32_t BlocksFor(size_t count, double rate) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= kCountMax, "too many items for one filter");
  rate = std::max(rate, kRateMin);
  RateMemo* memo = count < RateMemo::kCounts ? MemoOf(rate) : nullptr;
  if (memo == nullptr) return ComputeBlocks(count, rate);
  uint32_t blocks = memo->blocks[count].load(std::memory_order_relaxed);
  if (blocks == 0) {
    // Two threads may both compute it: the same number.
    blocks = ComputeBlocks(count, rate);
    memo->blocks[count].store(blocks, std::memory_order_relaxed);
  }
  return blocks;
}

}  // namespace seen::split_block_bloom
