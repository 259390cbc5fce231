#include "filter/render_payload.h"

#include "base/check.h"
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

namespace seen {
void RenderPayload(const SnapshotShape& shape, const SnapshotItems& items, std::string& out) {
  const double rate = shape.false_positive_rate;
  switch (shape.format) {
    case SnapshotFormat::kSplitBlockBloom:
      return SplitBlockBloomFilter::Render(items.fingerprints, rate, out, shape.power_of_two);
    case SnapshotFormat::kBloom:
      return BloomFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kCountingBloom:
      return CountingBloomFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kDLeft:
      return DLeftFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kQuotient:
      return QuotientFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kCuckoo:
      return CuckooFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kIndexedCuckoo:
      return IndexedCuckooFilter::Render(items.days, rate, out);
    case SnapshotFormat::kBinaryFuse8:
      return BinaryFuse8::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kBinaryFuse16:
      return BinaryFuse16::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kDayChain:
      return DayChainFilter::Render(items.days, rate, out);
    case SnapshotFormat::kFingerprints:
      return ExactFingerprintsFilter::Render(items.fingerprints, rate, out);
    case SnapshotFormat::kAuto:
      break;
  }
  Check(false, "no such snapshot format");
}

size_t PayloadBytes(SnapshotFormat format, size_t count, double rate) {
  switch (format) {
    case SnapshotFormat::kSplitBlockBloom:
      return SplitBlockBloomFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kBloom:
      return BloomFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kCountingBloom:
      return CountingBloomFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kDLeft:
      return DLeftFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kQuotient:
      return QuotientFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kCuckoo:
      return CuckooFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kBinaryFuse8:
      return BinaryFuse8::PayloadBytes(count, rate);
    case SnapshotFormat::kBinaryFuse16:
      return BinaryFuse16::PayloadBytes(count, rate);
    case SnapshotFormat::kFingerprints:
      return ExactFingerprintsFilter::PayloadBytes(count, rate);
    case SnapshotFormat::kAuto:
    case SnapshotFormat::kIndexedCuckoo:
    case SnapshotFormat::kDayChain:
      break;
  }
  Check(false, "only a format without days has a known size");
  return 0;
}

}  // namespace seen
