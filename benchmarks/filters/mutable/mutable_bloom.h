#pragma once
// A Bloom filter that takes items one by one: kind 2 of schemas/snapshot.md.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "filter/bloom.h"

namespace seen {

/// Items can't be removed. More items than `count` raise the rate. One thread.
class MutableBloom {
 public:
  /// Empty, sized for `count` items (up to 97 million) at `rate` in (0, kRateMax].
  MutableBloom(size_t count, double rate);
  void Insert(Fingerprint fingerprint) { BloomFilter::Insert({&fingerprint, 1}, payload_); }
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const {
    return BloomView::Parse(payload_)->MightContain(fingerprint);
  }
  /// Adds the items of `other`. kInvalidArgument: `other` has another number of bits or probes; nothing has
  /// changed.
  Status Merge(const MutableBloom& other);
  /// Appends the payload.
  void Serialise(std::string& out) const { out += payload_; }

 private:
  std::string payload_;
};

}  // namespace seen
