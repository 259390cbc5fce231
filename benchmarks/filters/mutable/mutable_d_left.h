#pragma once
// A d-left counting Bloom filter that takes and gives back items: kind 4 of schemas/snapshot.md.
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

#include "base/result.h"
#include "filter/d_left.h"

namespace seen {

/// More items than it is sized for raise its rate, and may not fit. One thread.
class MutableDLeft {
 public:
  /// Empty, sized for `count` items (up to 64 million) at `rate` in (0, kRateMax], so that one filter in a
  /// million or fewer is full before.
  MutableDLeft(size_t count, double rate);
  /// False: its four buckets are full; nothing has changed.
  [[nodiscard]] bool Insert(Fingerprint fingerprint);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const {
    return DLeftView::Parse(payload_)->MightContain(fingerprint);
  }
  /// False: certainly never inserted, or removed since; nothing has changed. What it can't tell is said
  /// above.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Holds what both held, counts added up. kInvalidArgument: `other` has another geometry, or they don't
  /// fit; nothing has changed. O(cells).
  Status Merge(const MutableDLeft& other);
  /// Appends the payload.
  void Serialise(std::string& out) const { out += payload_; }

 private:
  bool Add(const d_left::Value& value, uint32_t count);
  std::span<char> Cells() { return std::span(payload_).subspan(d_left::kFieldsOfPayload); }

  d_left::Geometry geometry_;
  std::string payload_;
};

}  // namespace seen
