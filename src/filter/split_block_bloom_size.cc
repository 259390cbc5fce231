// How many blocks a split-block Bloom filter needs: the exact formula, and a memo of its answers.

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "filter/size_memo.h"
#include "filter/split_block_bloom.h"

namespace seen::split_block_bloom {
namespace {

// A rate of 1e-9 takes under 64 bytes an item; a payload's size must fit into 32 bits.
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

// A day chain has about twenty rates for each rate of the configuration.
constinit SizeMemo<64, 16'384> blocks_memo;

}  // namespace

double FalsePositiveRate(size_t count, uint32_t blocks) {
  Check(blocks > 0, "a filter has at least one block");
  // A block of j items answers "seen" with (1 - (31/32)^j)^8. Expand it by the binomial theorem. The mean
  // over j ~ Binomial(count, p) is then a sum of nine values of j's generating function:
  // E[s^j] = (1 - p (1 - s))^count.
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
  return blocks_memo.Get(count, rate, [&] { return ComputeBlocks(count, rate); });
}

}  // namespace seen::split_block_bloom
