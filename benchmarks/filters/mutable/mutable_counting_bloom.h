#pragma once
// A counting Bloom filter that inserts and removes items: kind 3 of schemas/snapshot.md.
//
// Remove refuses an item that was never inserted if one of the item's counters is 0. The refusal fails only
// at the false-positive rate: if all counters are above 0, the item looks like an inserted item. Then Remove
// takes the counts of other items, and the filter may miss these items. An item inserted n times must be
// removed n times.
//
// A counter stops at 15 and stays there, because the filter no longer knows the true count.
// Removals leave such a counter above 0. So there are a few more false positives, and never a false negative.
// Up to the asked number of items, fewer than one counter of 10^14 reaches 15.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "filter/bloom.h"

namespace seen {

/// More items than `count` raise the rate. One thread.
class MutableCountingBloom {
 public:
  /// Empty, sized for `count` items (up to 24 million) at `rate` in (0, kRateMax].
  MutableCountingBloom(size_t count, double rate);
  /// Probes that fall on one counter count once.
  void Insert(Fingerprint fingerprint) { CountingBloomFilter::Insert({&fingerprint, 1}, payload_); }
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const {
    return CountingBloomView::Parse(payload_)->MightContain(fingerprint);
  }
  /// False: certainly never inserted, or removed since; nothing has changed. The comment at the top says
  /// which items Remove can't tell apart.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Adds the counts of `other`. kInvalidArgument: `other` has another number of counters or probes; nothing
  /// has changed.
  Status Merge(const MutableCountingBloom& other);
  /// Appends the payload.
  void Serialise(std::string& out) const { out += payload_; }

 private:
  std::string payload_;
};

}  // namespace seen
