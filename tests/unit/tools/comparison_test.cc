#include "tools/compare/comparison.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tools/compare/compare_page.h"
#include "tools/compare/compare_report.h"
#include "tools/compare/svg_chart.h"

namespace seen {
namespace {

CompareRequest RequestOf(uint64_t number, const std::string& filter, size_t items) {
  CompareRequest request;
  request.number = number;
  request.place = "r:" + std::to_string(number);
  request.user_id = "u" + std::to_string(number);
  request.filter = filter;
  for (size_t i = 0; i < items; ++i) request.items.push_back("i" + std::to_string(i));
  return request;
}

TEST(Comparison, CountsByFilterAndKeepsDifferences) {
  Comparison comparison(10, 1);
  OldAnswer old_answer{.dropped = {true, true, false, false}, .since = {}, .unknown_items = 1};
  comparison.Add(RequestOf(1, "a", 4), old_answer, {true, false, true, false});
  comparison.Add(RequestOf(2, "b", 4), old_answer, {true, true, false, false});
  const AgreementCounts total = comparison.Total();
  EXPECT_EQ(total.candidates(), 8u);
  EXPECT_EQ(total.both, 3u);
  EXPECT_EQ(total.neither, 3u);
  EXPECT_EQ(total.only_old, 1u);
  EXPECT_EQ(total.only_new, 1u);
  EXPECT_DOUBLE_EQ(total.agreement(), 0.75);
  EXPECT_DOUBLE_EQ(comparison.by_filter().at("a").agreement(), 0.5);
  EXPECT_EQ(comparison.requests_that_differ(), 1u);
  EXPECT_EQ(comparison.unknown_items(), 2u);
  EXPECT_EQ(comparison.only_old().InOrder().at(0).item_id, "i1");
  EXPECT_EQ(comparison.only_new().InOrder().at(0).item_id, "i2");
  EXPECT_EQ(comparison.old_shares()[5], 2u);
  EXPECT_DOUBLE_EQ(AgreementCounts().agreement(), 1.0);
}

TEST(Comparison, SamplesDifferencesEvenlyInBoundedMemory) {
  constexpr uint64_t kRequests = 20'000;
  constexpr size_t kKept = 1'000;
  Comparison comparison(kKept, 7);
  for (uint64_t number = 1; number <= kRequests; ++number)
    comparison.Add(RequestOf(number, "a", 1), {.dropped = {true}, .since = {}, .unknown_items = 0}, {false});
  EXPECT_EQ(comparison.only_old().total(), kRequests);
  const auto kept = comparison.only_old().InOrder();
  ASSERT_EQ(kept.size(), kKept);
  size_t first_half = 0;
  for (const FilterDifference& difference : kept) first_half += difference.number <= kRequests / 2 ? 1 : 0;
  EXPECT_NEAR(static_cast<double>(first_half), kKept / 2.0, 80);  // five standard deviations
  Comparison none(0, 7);
  none.Add(RequestOf(1, "a", 1), {.dropped = {true}, .since = {}, .unknown_items = 0}, {false});
  EXPECT_EQ(none.only_old().total(), 1u);
  EXPECT_TRUE(none.only_old().InOrder().empty());
}

TEST(Comparison, ShareBinsBeginAboveTheirLowerEnd) {
  EXPECT_EQ(ShareBin(0, 10), 0u);
  EXPECT_EQ(ShareBin(1, 1000), 1u);
  EXPECT_EQ(ShareBin(1, 10), 1u);
  EXPECT_EQ(ShareBin(11, 100), 2u);
  EXPECT_EQ(ShareBin(10, 10), 10u);
  EXPECT_EQ(ShareBinText(0), "nothing");
  EXPECT_EQ(ShareBinText(1), "up to 10%");
  EXPECT_EQ(ShareBinText(2), "10 to 20%");
  EXPECT_EQ(ShareBinText(10), "over 90%");
}

TEST(CompareReport, RoundingNeverHidesADifference) {
  EXPECT_EQ(PercentText(999'999, 1'000'000), "99.99%");
  EXPECT_EQ(PercentText(1, 1'000'000), "<0.01%");
  EXPECT_EQ(PercentText(1, 1), "100.00%");
  EXPECT_EQ(PercentText(0, 0), "0.00%");
}

CompareReport Sample() {
  CompareReport report;
  report.old_filter = "Redis at <b>";
  report.new_filter = "seen";
  report.at = TimeMs{1'763'700'000'000};
  report.requests = 3;
  report.users = 3;
  report.total = {.both = 10, .neither = 80, .only_old = 6, .only_new = 4};
  report.by_filter["default"] = report.total;
  report.old_shares[2] = 3;
  report.new_shares[1] = 3;
  FilterDifference difference;
  difference.user_id = "</text><script>x</script>\x1b[31m";
  difference.item_id = "\"'&";
  difference.place = "r:1";
  report.only_old = {
      .items = 6, .asked = 3, .reasons = {{{"never_shown", "never <shown>"}, 3}}, .examples = {}};
  report.only_old.examples.push_back({difference, {"never_shown", "never <shown>"}});
  report.only_new.items = 4;
  return report;
}

TEST(CompareReport, SaysWhetherAllWasCompared) {
  CompareReport report = Sample();
  EXPECT_TRUE(report.IsComplete());
  EXPECT_TRUE(CompareJson(report)["complete"]);
  report.not_compared.daemon = 1;
  EXPECT_FALSE(report.IsComplete());
  report.not_compared.daemon = 0;
  report.stopped = "interrupted";
  EXPECT_FALSE(report.IsComplete());
  EXPECT_NE(CompareText(report).find("stopped early: interrupted"), std::string::npos);
  EXPECT_NE(CompareText({}).find("nothing was compared"), std::string::npos);
}

TEST(CompareReport, IsTheSameAsTextAndAsJson) {
  const CompareReport report = Sample();
  const std::string text = CompareText(report);
  EXPECT_NE(text.find("100 candidates: the filters agree on 90 (90.00%)"), std::string::npos) << text;
  EXPECT_NE(text.find("only the old filter drops 6 (6.00% of the candidates); reasons of 3 of them"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find('\x1b'), std::string::npos) << "an id doesn't command a terminal";
  const auto json = CompareJson(report);
  EXPECT_EQ(json["total"]["only_old_drops"], 6);
  EXPECT_DOUBLE_EQ(json["total"]["agreement"].get<double>(), 0.9);
  EXPECT_EQ(json["only_old_drops"]["reasons"][0]["reason"], "never_shown");
  EXPECT_EQ(json["dropped_shares"][2]["old_requests"], 3);
}

size_t CountOf(const std::string& text, const std::string& part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ComparePage, HasThreeChartsAndNoForeignMarkup) {
  const std::string page = ComparePage(Sample());
  EXPECT_EQ(CountOf(page, "<svg"), 3u);
  EXPECT_EQ(CountOf(page, "</svg>"), 3u);
  EXPECT_EQ(CountOf(page, "<script"), 0u);
  EXPECT_EQ(CountOf(page, "<b>"), 0u);
  EXPECT_EQ(CountOf(page, "<shown>"), 0u);
  EXPECT_NE(page.find("90.00% of 100 candidates"), std::string::npos);
  EXPECT_NE(page.find("about 6 (100.00%)"), std::string::npos) << "the reasons of three stand for six";
  EXPECT_NE(page.find("&lt;/text&gt;&lt;script&gt;"), std::string::npos);
  EXPECT_EQ(page.find('\x1b'), std::string::npos);
  EXPECT_EQ(CountOf(ComparePage({}), "<svg"), 3u) << "also where nothing was compared";
}

TEST(SvgChart, EscapesWhatMarkupWouldObey) {
  EXPECT_EQ(EscapeMarkup("<a b=\"c\" d='e'>&\x01"),
            "&lt;a b=&quot;c&quot; d=&#39;e&#39;&gt;&amp;\xEF\xBF\xBD");
}

}  // namespace
}  // namespace seen
