#pragma once
// The set itself, which takes and gives back items: kind 11 of schemas/snapshot.md.

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <string>
#include <vector>

#include "base/result.h"
#include "filter/exact_fingerprints.h"
#include "filter/snapshot_format.h"

namespace seen {

/// Keeps its items sorted. A set: inserting twice is inserting once. One thread.
class MutableFingerprints {
 public:
  /// Empty; `count` and `rate` are only checked, as there is nothing to size.
  MutableFingerprints(size_t count, double rate) { (void)ExactFingerprintsFilter::PayloadBytes(count, rate); }
  /// O(n): a place is made for it.
  void Insert(Fingerprint fingerprint) {
    const auto at = std::lower_bound(items_.begin(), items_.end(), fingerprint);
    if (at == items_.end() || *at != fingerprint) items_.insert(at, fingerprint);
  }
  bool MightContain(Fingerprint fingerprint) const {
    return std::binary_search(items_.begin(), items_.end(), fingerprint);
  }
  /// False: it isn't in, which is always known here; nothing has changed.
  [[nodiscard]] bool Remove(Fingerprint fingerprint) {
    const auto at = std::lower_bound(items_.begin(), items_.end(), fingerprint);
    if (at == items_.end() || *at != fingerprint) return false;
    items_.erase(at);
    return true;
  }
  /// Holds what either held. Never fails.
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
