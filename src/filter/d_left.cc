#include "filter/d_left.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "filter/size_memo.h"
#include "filter/sort_keys.h"

namespace seen {
namespace {

using d_left::kTables;
using d_left::Value;

/// Looks for remainders in a bucket's cells: as many cells at once as eight bytes hold.
class CellTest {
 public:
  explicit CellTest(const d_left::Geometry& geometry)
      : geometry_(geometry), width_(geometry.CellBits()), at_once_(std::min(57 / width_, geometry.cells)) {
    for (uint32_t i = 0; i < at_once_; ++i) ones_ |= uint64_t{1} << (i * width_);
    // The cells of a bucket that are left after its whole loads.
    for (uint32_t i = 0; i < geometry.cells % at_once_; ++i) last_ones_ |= uint64_t{1} << (i * width_);
  }

  /// Whether a cell of the item's buckets has its remainder. Reads all cells, without a branch on the result.
  bool Finds(std::string_view bytes, uint64_t hash) const {
    const Value value = geometry_.ValueOf(hash);
    const uint64_t wanted = uint64_t{value.remainder} << 2;
    uint64_t found = 0;
    for (uint32_t table = 0; table < kTables; ++table) {
      uint64_t at = geometry_.CellAt(geometry_.BucketOf(value, table), 0);
      uint32_t left = geometry_.cells;
      for (; left >= at_once_; left -= at_once_, at += uint64_t{at_once_} * width_)
        found |= Matches(Load(bytes, at), wanted, ones_);
      if (left > 0) found |= Matches(Load(bytes, at), wanted, last_ones_);
    }
    return found != 0;
  }

 private:
  /// At least 57 bits from bit `at` on; fewer at the end of `bytes`.
  static uint64_t Load(std::string_view bytes, uint64_t at) {
    const size_t first = at / 8;
    if (first + sizeof(uint64_t) <= bytes.size()) [[likely]]
      return GetInteger<uint64_t>(bytes, first) >> (at % 8);
    uint64_t word = 0;
    for (size_t i = first; i < bytes.size(); ++i)
      word |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * (i - first));
    return word >> (at % 8);
  }

  /// A bit for each cell at `ones` that has a count and the remainder `wanted` >> 2: the lowest bit of the
  /// cell.
  uint64_t Matches(uint64_t word, uint64_t wanted, uint64_t ones) const {
    const uint64_t differs = word ^ (wanted * ones);
    const uint64_t counted = (differs | differs >> 1) & ones;
    // Adding ones in all bits below the top bit carries into the top bit, unless none of these bits differs.
    // The two bits of the count are left out.
    const uint64_t rest = (ones << (width_ - 1)) - 4 * ones;
    const uint64_t some = ((differs & rest) + rest) | differs;
    return ~(some >> (width_ - 1)) & counted;
  }

  d_left::Geometry geometry_;
  uint32_t width_;
  uint32_t at_once_;
  uint64_t ones_ = 0;
  uint64_t last_ones_ = 0;
};

}  // namespace

Result<DLeftView> DLeftView::Parse(std::string_view payload) {
  if (payload.size() < d_left::kFieldsOfPayload) {
    return Malformed(std::to_string(payload.size()) + " bytes; a d-left filter has 6 and its cells");
  }
  const d_left::Geometry geometry{static_cast<uint8_t>(payload[0]), static_cast<uint8_t>(payload[1]),
                                  GetInteger<uint32_t>(payload, 2)};
  if (geometry.remainder_bits < 1 || geometry.remainder_bits > d_left::kRemainderBitsMax) {
    return Malformed("r is " + std::to_string(geometry.remainder_bits) +
                     "; a d-left filter's remainders have 1 to 32 bits");
  }
  if (geometry.cells < 1 || geometry.cells > d_left::kCellsMax || geometry.buckets < 1) {
    return Malformed(std::to_string(geometry.buckets) + " buckets of " + std::to_string(geometry.cells) +
                     " cells; a d-left filter has at least one bucket in a table, of 1 to 16 cells");
  }
  const std::string_view cells = payload.substr(d_left::kFieldsOfPayload);
  if (cells.size() != geometry.Bytes()) {
    return Malformed(std::to_string(cells.size()) + " bytes of cells where " +
                     std::to_string(geometry.buckets) + " buckets of " + std::to_string(geometry.cells) +
                     " cells of " + std::to_string(geometry.CellBits()) + " bits in four tables take " +
                     std::to_string(geometry.Bytes()));
  }
  return DLeftView(geometry, cells);
}

bool DLeftView::MightContain(Fingerprint fingerprint) const {
  return CellTest(geometry_).Finds(cells_, HashOf(fingerprint));
}

void DLeftView::MightContainEach(std::span<const Fingerprint> fingerprints,
                                 std::span<uint8_t> answers) const {
  Check(fingerprints.size() == answers.size(), "one answer for each fingerprint");
  const CellTest test(geometry_);
  for (size_t i = 0; i < fingerprints.size(); ++i)
    answers[i] = test.Finds(cells_, HashOf(fingerprints[i])) ? 1 : 0;
}

// Renders d-left filters from all of their items. Sorts and places the items, then gives each bucket as many
// cells as the fullest bucket needs.

namespace {

using d_left::kTables;
using d_left::Value;

constexpr double kOverflows = 0.5;  // so that most filters have the predicted size
constexpr size_t kSmall = 128;      // items up to which some more shapes are tried

/// One number holds all fields: up to 2^14 items have fewer than 2^21 buckets.
constinit SizeMemo<8> geometry_memo;

d_left::Geometry Foretold(size_t count, double rate) {
  if (count >= kCountsRemembered) return d_left::SizeFor(count, rate, kOverflows);
  const uint32_t packed = geometry_memo.Get(count, rate, [&] {
    const d_left::Geometry geometry = d_left::SizeFor(count, rate, kOverflows);
    return geometry.buckets << 11 | geometry.cells << 6 | geometry.remainder_bits;
  });
  return {packed & 63, packed >> 6 & 31, packed >> 11};
}

/// The items in a geometry, each in a table.
class Placement {
 public:
  Placement(const d_left::Geometry& geometry, std::span<const Fingerprint> fingerprints)
      : geometry_(geometry) {
    const uint64_t values = uint64_t{geometry.buckets} << geometry.remainder_bits;
    if (values <= uint64_t{1} << 32) {
      const auto narrow = Sorted<uint32_t>(values, fingerprints);
      keys_.assign(narrow.begin(), narrow.end());
    } else {
      keys_ = Sorted<uint64_t>(values, fingerprints);
    }
    Place();
  }

  /// The bytes that the placement takes; the greatest number if it needs more cells than a bucket can have.
  uint64_t Bytes() const {
    return geometry_.cells > d_left::kCellsMax ? std::numeric_limits<uint64_t>::max() : geometry_.Bytes();
  }
  const d_left::Geometry& geometry() const { return geometry_; }

  void Append(std::string& out) const {
    d_left::AppendFields(geometry_, out);
    const size_t at = out.size();
    out.resize(at + geometry_.Bytes());
    const auto bytes = std::span(out).subspan(at);
    std::vector<uint8_t> loads(uint64_t{kTables} * geometry_.buckets);
    size_t placed = 0;
    ForEachValue([&](const Value& value, size_t count) {
      const uint64_t bucket = geometry_.BucketOf(value, tables_[placed++]);
      const auto cell_count = static_cast<uint32_t>(std::min<size_t>(count, d_left::kCountMax));
      d_left::PutCell(geometry_, bytes, geometry_.CellAt(bucket, loads[bucket]++), cell_count,
                      value.remainder);
    });
  }

 private:
  template <typename Key>
  std::vector<Key> Sorted(uint64_t values, std::span<const Fingerprint> fingerprints) const {
    std::vector<Key> keys(fingerprints.size());
    for (size_t i = 0; i < keys.size(); ++i) {
      const Value value = geometry_.ValueOf(HashOf(fingerprints[i]));
      keys[i] = static_cast<Key>(uint64_t{value.first} << geometry_.remainder_bits | value.remainder);
    }
    SortKeys(keys, static_cast<uint32_t>(std::bit_width(values - 1)));
    return keys;
  }

  template <typename Visit>
  void ForEachValue(Visit visit) const {
    for (size_t i = 0; i < keys_.size();) {
      const uint64_t key = keys_[i];
      const size_t from = i;
      while (i < keys_.size() && keys_[i] == key) ++i;
      visit(Value{static_cast<uint32_t>(key >> geometry_.remainder_bits),
                  static_cast<uint32_t>(key) & LowBits(geometry_.remainder_bits)},
            i - from);
    }
  }

  void Place() {
    std::vector<uint8_t> loads(uint64_t{kTables} * geometry_.buckets);
    tables_.reserve(keys_.size());
    uint32_t most = 1;
    ForEachValue([&](const Value& value, size_t) {
      uint8_t best_table = 0;
      uint64_t best = geometry_.BucketOf(value, 0);
      for (uint8_t table = 1; table < kTables; ++table) {
        const uint64_t bucket = geometry_.BucketOf(value, table);
        const bool fewer = loads[bucket] < loads[best];
        best = fewer ? bucket : best;
        best_table = fewer ? table : best_table;
      }
      tables_.push_back(best_table);
      most = std::max<uint32_t>(most, ++loads[best]);
    });
    geometry_.cells = most;
  }

  d_left::Geometry geometry_;   // with the cells that it needs, even more than a bucket can have
  std::vector<uint64_t> keys_;  // sorted: the order in which items are placed
  std::vector<uint8_t> tables_;
};

}  // namespace

size_t DLeftFilter::PayloadBytes(size_t count, double rate) {
  return d_left::kFieldsOfPayload + Foretold(count, rate).Bytes();
}

void DLeftFilter::Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out) {
  const size_t count = fingerprints.size();
  const d_left::Geometry foretold = Foretold(count, rate);
  Placement best(foretold, fingerprints);
  const auto offer = [&](const d_left::Geometry& geometry) {
    Placement placement(geometry, fingerprints);
    if (placement.Bytes() < best.Bytes()) best = std::move(placement);
  };
  if (count <= kSmall) {
    const uint32_t r = foretold.remainder_bits;
    for (uint32_t bits = r > 2 ? r - 2 : 1; bits <= std::min(r + 4, d_left::kRemainderBitsMax); ++bits)
      offer({bits, 1, d_left::BucketsAtLeast(count, rate, bits)});
  }
  // A bucket got too many items. Either all buckets get one more cell, or there are some more buckets.
  d_left::Geometry wider = foretold;
  for (int tried = 0; best.Bytes() > foretold.Bytes() && tried < 8; ++tried) {
    wider.buckets += wider.buckets / 64 + 1;
    offer(wider);
  }
  for (int tried = 0; best.geometry().cells > d_left::kCellsMax; ++tried) {
    Check(tried < 64, "four buckets of sixteen suffice");
    wider.buckets += wider.buckets / 4 + 1;
    offer(wider);
  }
  best.Append(out);
}

}  // namespace seen

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
