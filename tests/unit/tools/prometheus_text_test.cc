#include "tools/check/prometheus_text.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tools/check/demo_metrics.h"

namespace seen {
namespace {

constexpr std::string_view kPage = R"(# HELP seen_event_to_visible_seconds From here to there.
# TYPE seen_event_to_visible_seconds histogram
seen_event_to_visible_seconds_count 100
seen_event_to_visible_seconds_sum 0.73
seen_event_to_visible_seconds_bucket{le="0.001"} 10
seen_event_to_visible_seconds_bucket{le="0.005"} 60
seen_event_to_visible_seconds_bucket{le="0.01"} 99
seen_event_to_visible_seconds_bucket{le="+Inf"} 100
seen_event_to_published_seconds_bucket{filter="home",le="0.5"} 3
seen_event_to_published_seconds_bucket{filter="home",le="+Inf"} 4
seen_event_to_published_seconds_bucket{filter="a \"quoted\" \\ one",le="0.5"} 1
seen_event_to_published_seconds_bucket{filter="a \"quoted\" \\ one",le="+Inf"} 2 1763700000000
seen_consumer_lag_messages{partition="0"} 7
seen_consumer_lag_messages{partition="1"} 5e+02
seen_consumer_lag_messages_bogus 4
seen_events_total 60000
)";

TEST(PrometheusText, ReadsAHistogram) {
  const auto buckets = ParseHistogram(kPage, "seen_event_to_visible_seconds");
  ASSERT_EQ(buckets.size(), 4u);
  EXPECT_EQ(buckets[0].upper_bound, 0.001);
  EXPECT_EQ(buckets[1].cumulative, 60);
  EXPECT_TRUE(std::isinf(buckets[3].upper_bound));
  EXPECT_EQ(buckets[3].cumulative, 100);
  EXPECT_TRUE(ParseHistogram(kPage, "seen_event").empty());
}

TEST(PrometheusText, SumsSeriesThatMatchTheLabels) {
  EXPECT_EQ(ParseHistogram(kPage, "seen_event_to_published_seconds").back().cumulative, 6);
  EXPECT_EQ(ParseHistogram(kPage, "seen_event_to_published_seconds", {{"filter", "home"}}).back().cumulative,
            4);
  EXPECT_EQ(ParseHistogram(kPage, "seen_event_to_published_seconds", {{"filter", "a \"quoted\" \\ one"}})
                .front()
                .cumulative,
            1);
  EXPECT_TRUE(ParseHistogram(kPage, "seen_event_to_published_seconds", {{"filter", "none"}}).empty());
  EXPECT_EQ(ParseSum(kPage, "seen_consumer_lag_messages"), 507);
  EXPECT_EQ(ParseSum(kPage, "seen_consumer_lag_messages", {{"partition", "0"}}), 7);
  EXPECT_EQ(ParseSum(kPage, "seen_events_total"), 60'000);
  EXPECT_EQ(ParseSum(kPage, "seen_nothing_total"), std::nullopt);
}

TEST(PrometheusText, TakesQuantilesLinearlyWithinABucket) {
  const auto buckets = ParseHistogram(kPage, "seen_event_to_visible_seconds");
  EXPECT_NEAR(*Quantile(buckets, 0.05), 0.0005, 1e-12);
  EXPECT_NEAR(*Quantile(buckets, 0.35), 0.003, 1e-12);
  EXPECT_NEAR(*Quantile(buckets, 0.99), 0.01, 1e-12);
  EXPECT_NEAR(*Quantile(buckets, 1), 0.01, 1e-12) << "beyond the last bound: that bound";
  EXPECT_EQ(Quantile({}, 0.5), std::nullopt);
  EXPECT_EQ(Quantile({{0.1, 0}, {INFINITY, 0}}, 0.5), std::nullopt);
}

TEST(PrometheusText, TakesWhatHappenedBetweenTwoScrapes) {
  const std::vector<HistogramBucket> before = {{0.001, 100}, {0.01, 100}, {INFINITY, 100}};
  const std::vector<HistogramBucket> after = {{0.001, 100}, {0.01, 110}, {INFINITY, 110}};
  EXPECT_NEAR(*Quantile(Since(before, after), 0.5), 0.0055, 1e-12);
  EXPECT_EQ(Quantile(Since(after, after), 0.5), std::nullopt);
  EXPECT_EQ(Quantile(Since({}, before), 0.5), Quantile(before, 0.5));
}

TEST(PrometheusText, SurvivesAnyCutOfAPage) {
  for (size_t length = 0; length <= kPage.size(); ++length) {
    const std::string_view cut = kPage.substr(0, length);
    EXPECT_LE(ParseSum(cut, "seen_consumer_lag_messages").value_or(0), 507);
    EXPECT_LE(ParseHistogram(cut, "seen_event_to_published_seconds").size(), 2u);
  }
}

TEST(DemoLine, ShowsRatesAndPercentilesOfTheInterval) {
  DemoScrape before, after;
  before.events = 1000;
  after.events = 41'000;
  after.lag = 12;
  after.snapshots = 345;
  after.event_to_visible = {{0.002, 50}, {0.004, 100}, {INFINITY, 100}};
  after.event_to_published = {{0.1, 0}, {1, 0}, {2, 100}, {INFINITY, 100}};
  const std::string line = DemoLine(before, after, 2, 7);
  for (const char* part : {"7 s", "41,000", "20,000", "12", "345", "2.0 ms / 4.0 ms", "1.50 s / 1.99 s"})
    EXPECT_NE(line.find(part), std::string::npos) << part << " in: " << line;
  EXPECT_NE(DemoLine(after, after, 1, 8).find("- / -"), std::string::npos);
}

}  // namespace
}  // namespace seen
