#pragma once
// A counting Bloom filter that takes and gives back items: kind 3 of schemas/snapshot.md.
//
// Removing what was never inserted is refused where one of its counters is 0: always but at the
// false-positive rate. Where all are above 0 it can't be told from an item that is in, and takes the counts
// of others: they may then be missed. An item inserted n times must be removed n times.
//
// A counter stops at 15 and stays there, as what it lost count of can't be known: removals then leave it
// above 0, a few more false positives and never a false negative. Within the size asked for fewer than one
// counter of 10^14 gets there.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "filter/counting_bloom.h"

namespace seen {

/// More items than it is sized for raise its rate. One thread.
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
  /// False: certainly never inserted, or removed since; nothing has changed. What it can't tell is said
  /// above.
  [[nodiscard]] bool Remove(Fingerprint fingerprint);
  /// Holds what both held, counts added up. kInvalidArgument: `other` has another number of counters or
  /// probes; nothing has changed.
  Status Merge(const MutableCountingBloom& other);
  /// Appends the payload.
  void Serialise(std::string& out) const { out += payload_; }

 private:
  std::string payload_;
};

}  // namespace seen
