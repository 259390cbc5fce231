#include "filter/snapshot_format.h"

#include <fmt/format.h>

#include <algorithm>

namespace seen {

std::optional<SnapshotFormat> ParseSnapshotFormat(std::string_view name) {
  const auto found = std::find(kSnapshotFormatNames.begin(), kSnapshotFormatNames.end(), name);
  if (found == kSnapshotFormatNames.end()) return std::nullopt;
  return static_cast<SnapshotFormat>(found - kSnapshotFormatNames.begin());
}

double LeastRate(SnapshotFormat format) {
  if (format == SnapshotFormat::kBinaryFuse8) return 1.0 / 256;
  if (format == SnapshotFormat::kBinaryFuse16) return 1.0 / 65'536;
  return 0;
}

SnapshotFormat FormatFor(size_t, double) { return SnapshotFormat::kSplitBlockBloom; }

Status CheckShape(const SnapshotShape& shape) {
  const double rate = shape.false_positive_rate;
  if (!(rate > 0 && rate <= kRateMax)) {
    return Fail(Code::kInvalidArgument, fmt::format("{} isn't above 0 and at most 0.5", rate));
  }
  const double least = LeastRate(shape.format);
  if (rate >= least) return {};
  return Fail(
      Code::kInvalidArgument,
      fmt::format("{} is below the rate of \"{}\", which is always {}; ask for at least that, or for another "
                  "format",
                  rate, SnapshotFormatName(shape.format), least));
}

}  // namespace seen
