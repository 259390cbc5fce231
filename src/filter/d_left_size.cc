// The number of buckets, cells and bits of remainder that a d-left filter needs.

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "filter/d_left_layout.h"
#include "filter/snapshot_format.h"

namespace seen::d_left {
namespace {

/// The share of buckets that get more than c items, for every c and number of items. It is the limit for many
/// buckets, by the differential equations of d-left hashing. With few buckets the share is less. Source:
/// Mitzenmacher, Voecking 1999, "The Asymptotics of Selecting the Shortest of Two, Improved".
class Overflow {
 public:
  static constexpr uint32_t kStepsInItem = 16;  // steps for one item per bucket of one table
  static constexpr uint32_t kSteps = kTables * kCellsMax * kStepsInItem;

  Overflow() {
    Loads loads{};  // loads[i][j]: the share of table j's buckets that have at least i items
    loads[0].fill(1);
    constexpr double kStep = 1.0 / kStepsInItem / kSubsteps;
    for (uint32_t step = 0; step <= kSteps; ++step) {
      for (uint32_t cells = 1; cells <= kCellsMax; ++cells) {
        double sum = 0;
        for (const double share : loads[cells + 1]) sum += share;
        log_share_[cells - 1][step] = std::log(std::max(sum, kLeast));
      }
      for (uint32_t substep = 0; substep < kSubsteps; ++substep) {  // the midpoint method
        const Loads middle = Sum(loads, Slope(loads), kStep / 2);
        loads = Sum(loads, Slope(middle), kStep);
      }
    }
  }

  /// The fewest buckets of a table with which, after `count` items, at most `overflows` buckets of the four
  /// tables have more than `cells` items.
  double BucketsFor(double count, uint32_t cells, double overflows) const {
    const auto& log_share = log_share_[cells - 1];
    const auto holds = [&](uint32_t step) {
      const double buckets = count * kStepsInItem / step;
      return log_share[step] + std::log(buckets) <= std::log(overflows);
    };
    uint32_t enough = 1;
    uint32_t too_many = cells * kTables * kStepsInItem + 1;  // more items than there are cells
    if (!holds(enough)) return count * kStepsInItem;
    while (too_many - enough > 1) {
      const uint32_t middle = (enough + too_many) / 2;
      (holds(middle) ? enough : too_many) = middle;
    }
    return std::ceil(count * kStepsInItem / enough);
  }

 private:
  static constexpr uint32_t kSubsteps = 4;
  static constexpr double kLeast = 1e-200;
  using Loads = std::array<std::array<double, kTables>, kCellsMax + 2>;

  static Loads Slope(const Loads& loads) {
    Loads slope{};
    for (size_t i = 1; i < loads.size(); ++i) {
      for (size_t j = 0; j < kTables; ++j) {
        // An item goes to table j and becomes item i of its bucket if three conditions are true. That bucket
        // has i - 1 items. All buckets to the left have at least i. All to the right have at least i - 1.
        double share = loads[i - 1][j] - loads[i][j];
        for (size_t left = 0; left < j; ++left) share *= loads[i][left];
        for (size_t right = j + 1; right < kTables; ++right) share *= loads[i - 1][right];
        slope[i][j] = share;
      }
    }
    return slope;
  }
  static Loads Sum(const Loads& loads, const Loads& slope, double step) {
    Loads sum = loads;
    for (size_t i = 1; i < loads.size(); ++i)
      for (size_t j = 0; j < kTables; ++j) sum[i][j] += step * slope[i][j];
    return sum;
  }

  std::array<std::array<double, kSteps + 1>, kCellsMax> log_share_;
};

/// The number of values of which `count` items take at most a share of `rate`.
double ValuesFor(size_t count, double rate) {
  Check(rate > 0 && rate <= kRateMax, "a false-positive rate lies in (0, 0.5]");
  Check(count <= kItemsMax, "too many items for one filter");
  if (count == 0) return 1;
  return -1.0 / std::expm1(std::log1p(-std::max(rate, kRateMin)) / static_cast<double>(count));
}

double BucketsOf(double values, uint32_t remainder_bits) {
  return std::clamp(std::ceil(std::ldexp(values, -static_cast<int>(remainder_bits))), 1.0, 4e9);
}

}  // namespace

uint32_t BucketsAtLeast(size_t count, double rate, uint32_t remainder_bits) {
  return static_cast<uint32_t>(BucketsOf(ValuesFor(count, rate), remainder_bits));
}

Geometry SizeFor(size_t count, double rate, double overflows) {
  static const Overflow overflow;
  const double values = ValuesFor(count, rate);
  Geometry best;
  uint64_t fewest = std::numeric_limits<uint64_t>::max();
  for (uint32_t cells = 1; cells <= kCellsMax; ++cells) {
    const double needed = overflow.BucketsFor(static_cast<double>(count), cells, overflows);
    for (uint32_t r = 1; r <= kRemainderBitsMax; ++r) {
      const double least = BucketsOf(values, r);
      // With one bucket in each table all items fit if there are enough cells.
      const bool in_one = least == 1 && count <= uint64_t{kTables} * cells;
      const double buckets = in_one ? 1 : std::max({least, needed, 1.0});
      if (buckets > 4e9) continue;
      const Geometry geometry{r, cells, static_cast<uint32_t>(buckets)};
      if (geometry.Bytes() >= fewest) continue;
      fewest = geometry.Bytes();
      best = geometry;
    }
  }
  return best;
}

void AppendFields(const Geometry& geometry, std::string& out) {
  out += static_cast<char>(geometry.remainder_bits);
  out += static_cast<char>(geometry.cells);
  AppendInteger(out, geometry.buckets);
}

}  // namespace seen::d_left
