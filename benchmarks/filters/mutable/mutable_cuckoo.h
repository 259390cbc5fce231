#pragma once
// A cuckoo filter that takes and gives back items: kind 6 of schemas/snapshot.md.
// Source: as filter/cuckoo.h, algorithms 1 to 3.

#include <cstddef>
#include <optional>
#include <string>

#include "base/result.h"
#include "filter/cuckoo.h"
#include "filters/mutable/cuckoo_moves.h"

namespace seen {

/// Four bytes a place. A multiset: an item inserted twice must be removed twice; the ninth time it finds no
/// place. One thread.
class MutableCuckoo {
 public:
  /// Empty, sized for `count` items at `rate` in (0, kRateMax] (Check), with the room that Insert needs.
  MutableCuckoo(size_t count, double rate);
  /// False: no place was found for it; nothing has changed. Up to `count` items that happens to
  /// hardly one filter of a million.
  [[nodiscard]] bool Insert(Fingerprint fingerprint);
  bool MightContain(Fingerprint fingerprint) const { return Find(fingerprint).has_value(); }
  /// False: it has certainly never been inserted, or was removed since; nothing has changed. Only remove what
  /// was inserted: of something else that looks like an item (at the rate of false positives) it removes that
  /// item, which can't be told here.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Holds what both held: of what both have, twice. kInvalidArgument: `other` has another shape, or there is
  /// no room for both; nothing has changed.
  Status Merge(const MutableCuckoo& other);
  /// Appends the payload. Its bytes depend on the history, not only on what is in.
  void Serialise(std::string& out) const { CuckooFilter::Append(table_.table(), out); }

 private:
  std::optional<uint64_t> Find(Fingerprint fingerprint) const;

  CuckooMoves<uint32_t> table_;
};

}  // namespace seen
