#pragma once
// A split-block Bloom filter that takes items one by one: kind 1 of schemas/snapshot.md.

#include <cstddef>
#include <string>

#include "base/result.h"
#include "filter/split_block_bloom.h"

namespace seen {

/// Items can't be removed. More items than `count` raise the rate. One thread.
class MutableSplitBlockBloom {
 public:
  /// Empty, sized for `count` items at `rate` in (0, kRateMax].
  MutableSplitBlockBloom(size_t count, double rate)
      : payload_(SplitBlockBloomFilter::PayloadBytes(count, rate), '\0') {}
  void Insert(Fingerprint fingerprint) { split_block_bloom::Insert({&fingerprint, 1}, payload_); }
  /// False: certainly not inserted.
  bool MightContain(Fingerprint fingerprint) const {
    return split_block_bloom::MightContain(payload_, fingerprint);
  }
  /// Adds the items of `other`. kInvalidArgument: `other` has another number of blocks; nothing has changed.
  Status Merge(const MutableSplitBlockBloom& other);
  /// Appends the payload.
  void Serialise(std::string& out) const { out += payload_; }

 private:
  std::string payload_;
};

}  // namespace seen
