#pragma once
// What seenctl reads off the daemon's /metrics page.

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

/// Buckets of histogram `name` among all series whose labels include every one of `labels` (label -> value),
/// summed, ascending. Empty: there is no such series.
std::vector<HistogramBucket> ParseHistogram(std::string_view page, std::string_view name,
                                            const std::map<std::string, std::string>& labels = {});

/// Sum over all series of a counter or gauge that match; nullopt: there is none.
std::optional<double> ParseSum(std::string_view page, std::string_view name,
                               const std::map<std::string, std::string>& labels = {});

/// What happened between two scrapes of the same histogram; `before` may be empty.
std::vector<HistogramBucket> Since(const std::vector<HistogramBucket>& before,
                                   const std::vector<HistogramBucket>& after);

/// The `quantile` (0 to 1) in the bounds' unit, linear within a bucket as PromQL's histogram_quantile does;
/// the highest finite bound where it lies beyond it. nullopt: nothing was counted.
std::optional<double> Quantile(const std::vector<HistogramBucket>& buckets, double quantile);

}  // namespace seen
