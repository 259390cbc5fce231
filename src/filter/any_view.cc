#include "filter/any_view.h"

namespace seen {
namespace {

template <typename View>
Result<AnyView> ParseAs(std::string_view payload) {
  auto view = View::Parse(payload);
  if (!view) return Fail(view.error());
  return AnyView(std::move(*view));
}

}  // namespace

Result<AnyView> ParseView(SnapshotFormat format, std::string_view payload) {
  switch (format) {
    case SnapshotFormat::kSplitBlockBloom:
      return ParseAs<SplitBlockBloomView>(payload);
    case SnapshotFormat::kBloom:
      return ParseAs<BloomView>(payload);
    case SnapshotFormat::kCountingBloom:
      return ParseAs<CountingBloomView>(payload);
    case SnapshotFormat::kDLeft:
      return ParseAs<DLeftView>(payload);
    case SnapshotFormat::kQuotient:
      return ParseAs<QuotientView>(payload);
    case SnapshotFormat::kCuckoo:
      return ParseAs<CuckooView>(payload);
    case SnapshotFormat::kIndexedCuckoo:
      return ParseAs<IndexedCuckooView>(payload);
    case SnapshotFormat::kBinaryFuse8:
      return ParseAs<BinaryFuse8View>(payload);
    case SnapshotFormat::kBinaryFuse16:
      return ParseAs<BinaryFuse16View>(payload);
    case SnapshotFormat::kDayChain:
      return ParseAs<DayChainView>(payload);
    case SnapshotFormat::kFingerprints:
      return ParseAs<ExactFingerprintsView>(payload);
    case SnapshotFormat::kAuto:
      break;
  }
  return Fail(Code::kMalformed, "format " + std::to_string(static_cast<int>(format)) + " is unknown");
}

}  // namespace seen
