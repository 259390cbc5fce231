#pragma once
// Reads figures from the daemon's /metrics page.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Cumulative counts by upper bound, as Prometheus exposes them.
struct HistogramBucket {
  double upper_bound = 0;  // seconds; +Inf last
  double cumulative = 0;
};

/// The buckets of histogram `name`, ascending, summed over all series that have every one of `labels` (label
/// -> value). Empty: there is no such series.
std::vector<HistogramBucket> ParseHistogram(std::string_view page, std::string_view name,
                                            const std::map<std::string, std::string>& labels = {});

/// The sum over all matching series of a counter or gauge; nullopt: no series matches.
std::optional<double> ParseSum(std::string_view page, std::string_view name,
                               const std::map<std::string, std::string>& labels = {});

/// The counts between two scrapes of the same histogram. `before` may be empty.
std::vector<HistogramBucket> Since(const std::vector<HistogramBucket>& before,
                                   const std::vector<HistogramBucket>& after);

/// The `quantile` (0 to 1) in the unit of the bounds, linear within a bucket like PromQL's
/// histogram_quantile. The highest finite bound if the quantile lies beyond it. nullopt: nothing was counted.
std::optional<double> Quantile(const std::vector<HistogramBucket>& buckets, double quantile);

}  // namespace seen
