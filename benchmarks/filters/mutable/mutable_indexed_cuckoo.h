#pragma once
// An indexed cuckoo filter that takes items one by one: kind 7 of schemas/snapshot.md.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "filter/indexed_cuckoo.h"
#include "filters/mutable/cuckoo_moves.h"

namespace seen {

/// A window over the newest items. One thread.
class MutableIndexedCuckoo {
 public:
  /// Empty, for the newest `capacity` items (at least 1 is taken) at `rate` in (0, kRateMax] (Check).
  MutableIndexedCuckoo(size_t capacity, double rate);
  /// Inserts an item of `day`. Evicts the oldest item exactly if `capacity` items were in. A `day` before the
  /// newest day so far counts as the newest day. An item that is inserted again is in twice, with two
  /// numbers. False: there is no place; nothing has changed. This happens to hardly one insertion of a
  /// million, or to the ninth insertion of the same item.
  [[nodiscard]] bool Insert(Fingerprint fingerprint, Day day);
  bool MightContain(Fingerprint fingerprint) const { return Find(fingerprint).size() > 0; }
  /// Same as IndexedCuckooView::Find.
  IndexedItems Find(Fingerprint fingerprint) const;
  /// Appends the payload.
  void Serialise(std::string& out) const { IndexedCuckooFilter::Append(table_.table(), window_, days_, out); }

 private:
  using Slot = IndexedCuckooFilter::Slot;

  bool IsLive(Slot slot) const;
  void Sweep();

  IndexedWindow window_;
  CuckooMoves<Slot> table_;
  uint64_t swept_ = 0;                             // the next place to sweep
  uint64_t sweep_each_ = 0;                        // places swept with each insertion
  std::vector<IndexedCuckooFilter::DayRow> days_;  // ascending; the first begins at or before the oldest item
};

}  // namespace seen
