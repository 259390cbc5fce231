#pragma once
// A d-left counting Bloom filter over fingerprints: four tables of buckets of cells. A cell has a remainder,
// and the number of times that it was inserted. An item goes to the least loaded of its four buckets; of
// equal ones to the leftmost. The filter takes less than half the size of a counting Bloom filter. Source:
// Bonomi, Mitzenmacher, Panigrahy, Singh, Varghese 2006, "An Improved Construction for Counting Bloom
// Filters", section 3.
//
// The remainder and one of an item's four places determine the other three. So two items share a cell in all
// tables or in none, and a reader could remove one without removing the other. A count stops at 3.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/d_left_layout.h"
#include "filter/snapshot_format.h"
#include "model/hashes.h"

namespace seen {

/// Points into a payload of kind 4. Any thread. A look-up takes four cache lines, and reads all cells there.
class DLeftView {
 public:
  /// kMalformed: a field out of range, or a length other than the fields say.
  static Result<DLeftView> Parse(std::string_view payload);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// One answer each: `answers[i]` is 1 if `fingerprints[i]` may be in, else 0. The spans are of one length.
  void MightContainEach(std::span<const Fingerprint> fingerprints, std::span<uint8_t> answers) const;

 private:
  DLeftView(const d_left::Geometry& geometry, std::string_view cells) : geometry_(geometry), cells_(cells) {}
  d_left::Geometry geometry_;
  std::string_view cells_;
};

/// Payloads of kind 4.
struct DLeftFilter {
  static constexpr bool kSizesExactly = false;  // it depends on how full the fullest bucket gets
  /// The size that Render takes, approximately.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints` (up to 64 million), unique, in any order, with the fewest bytes that
  /// were found. Sorts, then O(n).
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);
};

}  // namespace seen
