#pragma once
// The exact set, which inserts and removes items: kind 11 of schemas/snapshot.md.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/exact_fingerprints.h"
#include "filter/snapshot_format.h"

namespace seen {

/// Keeps its items sorted. It is a set: a second insertion of an item changes nothing. One thread.
class MutableFingerprints {
 public:
  /// Empty. `count` and `rate` are only checked, because there is nothing to size.
  MutableFingerprints(size_t count, double rate) { (void)ExactFingerprintsFilter::PayloadBytes(count, rate); }
  /// O(n), because later items move to make room.
  void Insert(Fingerprint fingerprint) {
    const auto at = std::lower_bound(items_.begin(), items_.end(), fingerprint);
    if (at == items_.end() || *at != fingerprint) items_.insert(at, fingerprint);
  }
  bool MightContain(Fingerprint fingerprint) const {
    return std::binary_search(items_.begin(), items_.end(), fingerprint);
  }
  /// False: the item is not in the set; nothing has changed. The exact set always knows this.
  [[nodiscard]] bool Remove(Fingerprint fingerprint) {
    const auto at = std::lower_bound(items_.begin(), items_.end(), fingerprint);
    if (at == items_.end() || *at != fingerprint) return false;
    items_.erase(at);
    return true;
  }
  /// Adds the items of `other`. Never fails.
  Status Merge(const MutableFingerprints& other) {
    std::vector<Fingerprint> both;
    std::set_union(items_.begin(), items_.end(), other.items_.begin(), other.items_.end(),
                   std::back_inserter(both));
    items_ = std::move(both);
    return {};
  }
  /// Appends the payload.
  void Serialise(std::string& out) const { ExactFingerprintsFilter::Render(items_, kRateMax, out); }

 private:
  std::vector<Fingerprint> items_;  // ascending, unique
};

}  // namespace seen
