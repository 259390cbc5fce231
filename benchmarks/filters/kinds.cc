#include "filters/kinds.h"

#include "filter/binary_fuse.h"
#include "filters/mutable/mutable_bloom.h"
#include "filters/mutable/mutable_counting_bloom.h"
#include "filters/mutable/mutable_cuckoo.h"
#include "filters/mutable/mutable_d_left.h"
#include "filters/mutable/mutable_day_chain.h"
#include "filters/mutable/mutable_fingerprints.h"
#include "filters/mutable/mutable_indexed_cuckoo.h"
#include "filters/mutable/mutable_quotient.h"
#include "filters/mutable/mutable_split_block_bloom.h"

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
      KindOf<MutableBloom>(SnapshotFormat::kBloom),
      KindOf<MutableSplitBlockBloom>(SnapshotFormat::kSplitBlockBloom),
      OfPowersOfTwo(KindOf<MutableSplitBlockBloom>(SnapshotFormat::kSplitBlockBloom)),
      KindOf<MutableCountingBloom>(SnapshotFormat::kCountingBloom),
      KindOf<MutableDLeft>(SnapshotFormat::kDLeft),
      KindOf<MutableQuotient>(SnapshotFormat::kQuotient),
      KindOf<MutableCuckoo>(SnapshotFormat::kCuckoo),
      KindOf<MutableIndexedCuckoo>(SnapshotFormat::kIndexedCuckoo),
      KindOf<BinaryFuse8>(SnapshotFormat::kBinaryFuse8),
      KindOf<BinaryFuse16>(SnapshotFormat::kBinaryFuse16),
      KindOf<MutableDayChain>(SnapshotFormat::kDayChain),
      KindOf<MutableFingerprints>(SnapshotFormat::kFingerprints),
  };
  return kinds;
}

}  // namespace seen::bench
