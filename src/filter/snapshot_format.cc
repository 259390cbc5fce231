#include "filter/snapshot_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "filter/payload.h"
#include "filter/size_memo.h"

namespace seen {

std::optional<SnapshotFormat> ParseSnapshotFormat(std::string_view name) {
  const auto found = std::find(kSnapshotFormatNames.begin(), kSnapshotFormatNames.end(), name);
  if (found == kSnapshotFormatNames.end()) return std::nullopt;
  return static_cast<SnapshotFormat>(found - kSnapshotFormatNames.begin());
}

double LeastRate(SnapshotFormat format) {
  if (format == SnapshotFormat::kBinaryFuse8) return 1.0 / 256;
  if (format == SnapshotFormat::kBinaryFuse16) return 1.0 / 65'536;
  return kRateMin;
}

namespace {

// The kinds worth choosing for their size. At equal size the one with faster answers comes first.
constexpr std::array kBySize = {SnapshotFormat::kSplitBlockBloom, SnapshotFormat::kBloom,
                                SnapshotFormat::kCuckoo,          SnapshotFormat::kBinaryFuse8,
                                SnapshotFormat::kBinaryFuse16,    SnapshotFormat::kQuotient,
                                SnapshotFormat::kFingerprints};

SnapshotFormat Fewest(size_t count, double rate) {
  SnapshotFormat best = SnapshotFormat::kSplitBlockBloom;
  size_t fewest = std::numeric_limits<size_t>::max();
  for (const SnapshotFormat format : kBySize) {
    if (rate < LeastRate(format)) continue;
    const size_t bytes = PayloadBytes(format, count, rate);
    if (bytes >= fewest) continue;
    best = format;
    fewest = bytes;
  }
  return best;
}

constinit SizeMemo<8> fewest_memo;

}  // namespace

SnapshotFormat FormatFor(size_t count, double rate) {
  return static_cast<SnapshotFormat>(
      fewest_memo.Get(count, rate, [&] { return static_cast<uint32_t>(Fewest(count, rate)); }));
}

SnapshotFormat SimilarFormatFor(const SnapshotShape& shape, size_t count) {
  const double rate = shape.false_positive_rate;
  if (shape.format == SnapshotFormat::kAuto) return FormatFor(count, rate);
  if (NeedsDays(shape.format) || rate < LeastRate(shape.format)) return SnapshotFormat::kSplitBlockBloom;
  return shape.format;
}

Status CheckShape(const SnapshotShape& shape) {
  const double rate = shape.false_positive_rate;
  if (!(rate > 0 && rate <= kRateMax)) {
    return Fail(Code::kInvalidArgument, fmt::format("{} isn't above 0 and at most 0.5", rate));
  }
  const double least = LeastRate(shape.format);
  if (rate >= least) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{} is below {}, the least rate of \"{}\"; ask for at least that{}", rate, least,
                  SnapshotFormatName(shape.format), least > kRateMin ? ", or for another format" : ""));
}

}  // namespace seen
