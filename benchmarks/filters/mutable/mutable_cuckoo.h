#pragma once
// A cuckoo filter that inserts and removes items: kind 6 of schemas/snapshot.md.
// Source: that of filter/cuckoo.h, algorithms 1 to 3.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "filter/cuckoo.h"
#include "filters/mutable/cuckoo_moves.h"

namespace seen {

/// Takes four bytes a place. The filter is a multiset: an item inserted twice must be removed twice. The
/// ninth insertion of an item finds no place. One thread.
class MutableCuckoo {
 public:
  /// Empty, sized for `count` items at `rate` in (0, kRateMax] (Check), with the room that Insert needs.
  MutableCuckoo(size_t count, double rate);
  /// False: there is no place for the item; nothing has changed. Up to `count` items, this happens to hardly
  /// one filter of a million.
  [[nodiscard]] bool Insert(Fingerprint fingerprint);
  bool MightContain(Fingerprint fingerprint) const { return Find(fingerprint).has_value(); }
  /// False: certainly never inserted, or removed since; nothing has changed. Remove only inserted items.
  /// Another item may look like an inserted one, at the false-positive rate. Then Remove takes out the
  /// inserted item, and can't notice the mistake.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Adds the items of `other`. An item of both is then in twice. kInvalidArgument: `other` has another
  /// shape, or there is no room for both; nothing has changed.
  Status Merge(const MutableCuckoo& other);
  /// Appends the payload. The bytes depend on the history, not only on the items.
  void Serialise(std::string& out) const { CuckooFilter::Append(table_.table(), out); }

 private:
  std::optional<uint64_t> Find(Fingerprint fingerprint) const;

  CuckooMoves<uint32_t> table_;
};

}  // namespace seen
