#pragma once
// A d-left counting Bloom filter over fingerprints: four tables of buckets of cells, each a remainder and how
// often it was inserted. An item goes to the least loaded of its four buckets, to the left one of equals.
// Less than half the size of a counting Bloom filter. Source: Bonomi, Mitzenmacher, Panigrahy, Singh,
// Varghese 2006, "An Improved Construction for Counting Bloom Filters", section 3.
//
// Its four places are one permutation of another by the remainder: two items share a cell
// in all tables or in none, so that removing one never takes another's.
//
// Removing what was never inserted is refused where no cell of the four buckets has its remainder: always but
// at the false-positive rate. Where one has, it can't be told from an item that is in, and takes that one's
// count: that one is then missed. An item inserted n times must be removed n times.
//
// A count stops at 3 and stays there, as what it lost count of can't be known: such an item is never removed,
// and never missed. Three items of n share a cell with a chance of about rate^2 / 6 each, or one is inserted
// thrice.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "filter/d_left_layout.h"
#include "filter/snapshot_format.h"
#include "model/fingerprint.h"

namespace seen {

/// A payload of kind 4. Points into it. Any thread. A look-up takes four cache lines, and looks at all cells
/// there.
class DLeftView {
 public:
  /// kMalformed: a field outside its range, or another length.
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

/// Takes and gives back items. More than it is sized for raise its rate, and may not fit. One thread.
class DLeftFilter {
 public:
  /// Empty, sized for `count` items (up to 64 million) at `rate` in (0, kRateMax], so that one filter in a
  /// million or fewer is full before.
  DLeftFilter(size_t count, double rate);
  /// False: its four buckets are full; nothing has changed.
  [[nodiscard]] bool Insert(Fingerprint fingerprint);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const;
  /// False: certainly never inserted, or removed since; nothing has changed. What it can't tell is said
  /// above.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Holds what both held, counts added up. kInvalidArgument: `other` has another geometry, or they don't
  /// fit; nothing has changed. O(cells).
  Status Merge(const DLeftFilter& other);
  /// Appends the payload.
  void Serialise(std::string& out) const;

  static constexpr bool kSizesExactly = false;  // how full the fullest bucket gets is up to the items
  /// What Render takes, more or less.
  static size_t PayloadBytes(size_t count, double rate);
  /// Appends a payload of `fingerprints`, unique, in any order: of the fewest bytes that were found for them.
  /// Sorts, then O(n).
  static void Render(std::span<const Fingerprint> fingerprints, double rate, std::string& out);

 private:
  bool Add(const d_left::Value& value, uint32_t count);

  d_left::Geometry geometry_;
  std::string cells_;
};

}  // namespace seen
