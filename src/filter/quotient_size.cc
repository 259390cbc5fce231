// The number of quotients, slots and bits of remainder that a quotient filter needs.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/result.h"
#include "filter/quotient_layout.h"
#include "filter/size_memo.h"
#include "filter/snapshot_format.h"

namespace seen::quotient {
namespace {

constexpr double kHashes = 4294967296.0;  // 32 bits of the hash: more values distinguish nothing

double CheckedRate(size_t count, double rate) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= kCountMax, "too many items for one filter");
  return std::max(rate, kRateMin);
}

/// The mean number of different values that `count` items take of `values`.
double DifferentOf(size_t count, double values) {
  if (values <= 1) return count == 0 ? 0 : 1;
  return -values * std::expm1(static_cast<double>(count) * std::log1p(-1 / values));
}

/// The slots that `items` in `quotients` need, half of the time. A slot is free only if all runs before it
/// have ended by then. The number of free slots is the most by which the quotients were ever ahead of the
/// items. It is the greatest value k of a Brownian bridge to quotients - items, of variance `items`. The
/// bridge exceeds k with a probability of exp(-2 k (k - end) / variance).
double SlotsFor(double items, double quotients) {
  const double surplus = items - quotients;
  const double free = (-surplus + std::sqrt(surplus * surplus + 2 * items * std::log(2.0))) / 2;
  return std::max({std::floor(items + free), quotients, 1.0});
}

Geometry Compute(size_t count, double rate) {
  const double values = ValuesFor(count, rate);
  Geometry best;
  if (count == 0) return best;
  uint64_t fewest = std::numeric_limits<uint64_t>::max();
  for (uint32_t r = 1; r <= kRemainderBitsMax; ++r) {
    double quotients = std::max(std::ceil(std::ldexp(values, -static_cast<int>(r))), 1.0);
    const double items = DifferentOf(count, std::ldexp(quotients, static_cast<int>(r)));
    // At the end the runs are behind by the surplus of items over quotients, and by chance some more.
    quotients = std::max(quotients, std::ceil(items - (kOffsetMax - 5 * std::sqrt(items))));
    const double slots = SlotsFor(items, quotients);
    if (slots > kSlotsMax) continue;
    const Geometry geometry{r, static_cast<uint32_t>(quotients), static_cast<uint32_t>(slots)};
    if (geometry.Bytes() >= fewest) continue;
    fewest = geometry.Bytes();
    best = geometry;
  }
  return best;
}

// Two numbers hold the results: below 2^14 items there are fewer than 2^16 quotients, and slots.
constexpr size_t kCountsRemembered = 16'384;
constinit SizeMemo<8, kCountsRemembered> quotients_memo;
constinit SizeMemo<8, kCountsRemembered> slots_memo;

}  // namespace

double ValuesFor(size_t count, double rate) {
  if (count == 0) return 1;
  return std::min(-1.0 / std::expm1(std::log1p(-rate) / static_cast<double>(count)), kHashes);
}

Geometry SizeFor(size_t count, double rate) {
  rate = CheckedRate(count, rate);
  if (count >= kCountsRemembered) return Compute(count, rate);
  const uint32_t packed = quotients_memo.Get(count, rate, [&] {
    const Geometry geometry = Compute(count, rate);
    return geometry.quotients << 6 | geometry.remainder_bits;
  });
  const uint32_t slots = slots_memo.Get(count, rate, [&] { return Compute(count, rate).slots; });
  return {packed & 63, packed >> 6, slots};
}

}  // namespace seen::quotient
