#include "filters/kinds.h"

#include "filter/binary_fuse.h"
#include "filter/bloom.h"
#include "filter/counting_bloom.h"
#include "filter/cuckoo.h"
#include "filter/d_left.h"
#include "filter/day_chain.h"
#include "filter/exact_fingerprints.h"
#include "filter/indexed_cuckoo.h"
#include "filter/quotient.h"
#include "filter/split_block_bloom.h"

namespace seen::bench {
namespace {

template <typename Filter>
Kind KindOf(SnapshotFormat format) {
  Kind kind{std::string(SnapshotFormatName(format)), {}, false, false};
  kind.shape.format = format;
  kind.removes = requires(Filter & filter, Fingerprint fingerprint) { filter.Remove(fingerprint); };
  kind.merges = requires(Filter & filter, const Filter& other) { filter.Merge(other); };
  return kind;
}

Kind OfPowersOfTwo(Kind kind) {
  kind.name += ", power_of_two";
  kind.shape.power_of_two = true;
  return kind;
}

}  // namespace

SnapshotShape Kind::At(double rate) const {
  SnapshotShape at = shape;
  at.false_positive_rate = IsExact() ? kRateMin : IsFixed() ? LeastRate(shape.format) : rate;
  return at;
}

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      KindOf<BloomFilter>(SnapshotFormat::kBloom),
      KindOf<SplitBlockBloomFilter>(SnapshotFormat::kSplitBlockBloom),
      OfPowersOfTwo(KindOf<SplitBlockBloomFilter>(SnapshotFormat::kSplitBlockBloom)),
      KindOf<CountingBloomFilter>(SnapshotFormat::kCountingBloom),
      KindOf<DLeftFilter>(SnapshotFormat::kDLeft),
      KindOf<QuotientFilter>(SnapshotFormat::kQuotient),
      KindOf<CuckooFilter>(SnapshotFormat::kCuckoo),
      KindOf<IndexedCuckooFilter>(SnapshotFormat::kIndexedCuckoo),
      KindOf<BinaryFuse8>(SnapshotFormat::kBinaryFuse8),
      KindOf<BinaryFuse16>(SnapshotFormat::kBinaryFuse16),
      KindOf<DayChainFilter>(SnapshotFormat::kDayChain),
      KindOf<ExactFingerprintsFilter>(SnapshotFormat::kFingerprints),
  };
  return kinds;
}

}  // namespace seen::bench
