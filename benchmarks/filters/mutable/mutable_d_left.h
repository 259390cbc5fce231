#pragma once
// A d-left counting Bloom filter that inserts and removes items: kind 4 of schemas/snapshot.md.
//
// Remove refuses an item that was never inserted if no cell of the item's four buckets has its remainder. The
// refusal fails only at the false-positive rate: if a cell has the remainder, the item looks like an inserted
// item. Then Remove takes the count of the inserted item, and the filter misses that item. An item inserted n
// times must be removed n times.
//
// A count stops at 3 and stays there, because the filter no longer knows the true count. Such an item is
// never removed, and never missed. A count reaches 3 if one item is inserted three times, or if three items
// share a cell. The chance of the latter is about rate^2 / 6 for each item.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "filter/d_left.h"

namespace seen {

/// More items than `count` raise the rate, and may not fit. One thread.
class MutableDLeft {
 public:
  /// Empty, sized for `count` items (up to 64 million) at `rate` in (0, kRateMax]. At most one filter of a
  /// million is full earlier.
  MutableDLeft(size_t count, double rate);
  /// False: the item's four buckets are full; nothing has changed.
  [[nodiscard]] bool Insert(Fingerprint fingerprint);
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const {
    return DLeftView::Parse(payload_)->MightContain(fingerprint);
  }
  /// False: certainly never inserted, or removed since; nothing has changed. The comment at the top says
  /// which items Remove can't tell apart.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Adds the counts of `other`. kInvalidArgument: `other` has another geometry, or the items of both don't
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
