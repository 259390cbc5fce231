// Reads d-left filters; d_left_render.cc renders them.

#include "filter/d_left.h"

#include <algorithm>

#include "base/result.h"

namespace seen {
namespace {

using d_left::Geometry;
using d_left::kTables;
using d_left::Value;

/// Looks for remainders in a bucket's cells: as many cells at once as eight bytes hold.
class CellTest {
 public:
  explicit CellTest(const Geometry& geometry)
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

  Geometry geometry_;
  uint32_t width_;
  uint32_t at_once_;
  uint64_t ones_ = 0;
  uint64_t last_ones_ = 0;
};

tl::unexpected<Error> Malformed(const std::string& what) {
  return Fail(Code::kMalformed, "payload: " + what);
}

}  // namespace

Result<DLeftView> DLeftView::Parse(std::string_view payload) {
  if (payload.size() < d_left::kFieldsOfPayload) {
    return Malformed(std::to_string(payload.size()) + " bytes; a d-left filter has 6 and its cells");
  }
  const Geometry geometry{static_cast<uint8_t>(payload[0]), static_cast<uint8_t>(payload[1]),
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

}  // namespace seen
