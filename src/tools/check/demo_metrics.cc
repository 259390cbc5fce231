#include "tools/check/demo_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/progress.h"

namespace seen {
namespace {

std::string Pair(const std::vector<HistogramBucket>& before, const std::vector<HistogramBucket>& after) {
  const auto between = Since(before, after);
  return LatencyText(between, 0.5) + " / " + LatencyText(between, 0.99);
}

uint64_t Whole(double value) { return static_cast<uint64_t>(std::llround(std::max(0.0, value))); }

}  // namespace

std::string LatencyText(const std::vector<HistogramBucket>& buckets, double quantile) {
  const auto seconds = Quantile(buckets, quantile);
  if (!seconds) return "-";
  if (*seconds >= 1) return fmt::format("{:.2f} s", *seconds);
  return *seconds >= 0.1 ? fmt::format("{:.0f} ms", *seconds * 1000)
                         : fmt::format("{:.1f} ms", *seconds * 1000);
}

DemoScrape ParseDemoScrape(std::string_view page) {
  return {.events = ParseSum(page, "seen_events_total").value_or(0),
          .lag = ParseSum(page, "seen_consumer_lag_messages").value_or(0),
          .rejected = ParseSum(page, "seen_events_rejected_total").value_or(0),
          .snapshots = ParseSum(page, "seen_snapshots_total").value_or(0),
          .event_to_visible = ParseHistogram(page, "seen_event_to_visible_seconds"),
          .event_to_published = ParseHistogram(page, "seen_event_to_published_seconds")};
}

std::string DemoHeading() {
  return fmt::format("{:>6} {:>12} {:>12} {:>8} {:>12}   {:<19}  {}", "time", "events", "events/s", "lag",
                     "snapshots", "event to visible", "event to published (p50 / p99)");
}

std::string DemoLine(const DemoScrape& before, const DemoScrape& after, double seconds, double at_s) {
  return fmt::format("{:>4.0f} s {:>12} {:>12} {:>8} {:>12}   {:<19}  {}", at_s,
                     WithThousands(Whole(after.events)),
                     WithThousands(Whole((after.events - before.events) / std::max(seconds, 1e-3))),
                     WithThousands(Whole(after.lag)), WithThousands(Whole(after.snapshots)),
                     Pair(before.event_to_visible, after.event_to_visible),
                     Pair(before.event_to_published, after.event_to_published));
}

}  // namespace seen
