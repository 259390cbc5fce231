#pragma once
// The demo's progress line: the last second in figures of the daemon's /metrics page.

#include <string>
#include <string_view>
#include <vector>

#include "tools/check/prometheus_text.h"

namespace seen {

/// "1.2 ms", "1.05 s"; "-" if nothing was counted.
std::string LatencyText(const std::vector<HistogramBucket>& buckets, double quantile);

/// The figures of one scrape.
struct DemoScrape {
  double events = 0;
  double lag = 0;
  double rejected = 0;
  double snapshots = 0;
  std::vector<HistogramBucket> event_to_visible;
  std::vector<HistogramBucket> event_to_published;
};

DemoScrape ParseDemoScrape(std::string_view metrics_page);

std::string DemoHeading();
/// `before` and `after` are `seconds` apart. `at_s`: the time to show.
std::string DemoLine(const DemoScrape& before, const DemoScrape& after, double seconds, double at_s);

}  // namespace seen
