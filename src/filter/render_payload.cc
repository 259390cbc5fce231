#include "filter/render_payload.h"

#include <bit>

#include "base/check.h"
#include "filter/split_block_bloom.h"

namespace seen {
namespace {

void RenderSplitBlockBloom(const SnapshotShape& shape, std::span<const Fingerprint> fingerprints,
                           std::string& out) {
  if (!shape.power_of_two) return SplitBlockBloomFilter::Render(fingerprints, shape.false_positive_rate, out);
  const uint32_t blocks = split_block_bloom::BlocksFor(fingerprints.size(), shape.false_positive_rate);
  const size_t at = out.size();
  out.resize(at + split_block_bloom::kBlockBytes * std::bit_ceil(blocks));
  split_block_bloom::Insert(fingerprints, std::span(out).subspan(at));
}

}  // namespace

void RenderPayload(const SnapshotShape& shape, const SnapshotItems& items, std::string& out) {
  switch (shape.format) {
    case SnapshotFormat::kSplitBlockBloom:
      return RenderSplitBlockBloom(shape, items.fingerprints, out);
    default:
      break;
  }
  Check(false, "no such snapshot format");
}

}  // namespace seen
