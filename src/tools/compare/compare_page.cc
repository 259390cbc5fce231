#include "tools/compare/compare_page.h"

#include <fmt/format.h>

#include <cmath>

#include "tools/ask/calendar.h"
#include "tools/compare/svg_chart.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr const char* kBothColor = "#1f6f78";
constexpr const char* kNeitherColor = "#9fc9c4";
constexpr const char* kOldColor = "#d9822b";
constexpr const char* kNewColor = "#6a4fb3";

constexpr std::string_view kHead = R"(<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>The old filter and seen, compared</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; color: #1d2733; max-width: 820px; margin: 2em auto; padding: 0 1em; }
h1 { font-size: 1.6em; line-height: 1.25; } h2 { font-size: 1.2em; margin-top: 2em; }
.note { color: #5b6673; } .warning { background: #fff3e0; border-left: 4px solid #d9822b; padding: .5em 1em; }
svg { width: 100%; height: auto; display: block; margin: 1em 0; }
svg text { font: 14px system-ui, sans-serif; fill: #1d2733; }
svg .number { font-variant-numeric: tabular-nums; } svg .small { font-size: 11px; } svg .heading { font-weight: 600; }
table { border-collapse: collapse; width: 100%; font-size: .9em; }
th, td { text-align: left; padding: .3em .6em; border-bottom: 1px solid #dde2e8; overflow-wrap: anywhere; }
</style>
</head>
<body>
)";

std::string Paragraph(std::string_view text, std::string_view css = "") {
  return fmt::format("<p{}>{}</p>\n", css.empty() ? "" : fmt::format(" class=\"{}\"", css),
                     EscapeMarkup(text));
}

std::string Heading(std::string_view text) { return fmt::format("<h2>{}</h2>\n", EscapeMarkup(text)); }

std::string PartText(uint64_t part, uint64_t whole) {
  return fmt::format("{} ({})", WithThousands(part), PercentText(part, whole));
}

std::string Summary(const CompareReport& report) {
  const AgreementCounts& total = report.total;
  const uint64_t all = total.candidates();
  std::string html;
  if (all == 0) {
    html += "<h1>Nothing was compared</h1>\n";
  } else {
    html += fmt::format("<h1>The two filters agree on {} of {} candidates</h1>\n",
                        PercentText(total.both + total.neither, all), WithThousands(all));
  }
  html +=
      Paragraph(fmt::format("Both filters answered {} real requests of {} users on {}. In {} of the requests "
                            "the filters differ in one candidate or more.",
                            WithThousands(report.requests), WithThousands(report.users),
                            TimeText(report.at).substr(0, 10), WithThousands(report.requests_that_differ)));
  html +=
      Paragraph(fmt::format("After the cut-over, this filter would let through {} candidates that the old "
                            "filter drops, and drop {} that the old filter lets through.",
                            PartText(total.only_old, all), PartText(total.only_new, all)));
  html += Paragraph(fmt::format("Old filter: {}. This filter: {}.", report.old_filter, report.new_filter),
                    "note");
  return html;
}

std::string Warnings(const CompareReport& report) {
  std::string html;
  if (!report.stopped.empty())
    html += Paragraph("The comparison stopped early: " + report.stopped, "warning");
  if (const NotCompared& not_compared = report.not_compared; not_compared.requests() > 0) {
    html += Paragraph(
        fmt::format(
            "{} requests are not in these numbers: {} bad lines, {} without an answer of the old filter, "
            "{} without one of this filter.",
            WithThousands(not_compared.requests()), WithThousands(not_compared.bad_lines),
            WithThousands(not_compared.old_filter), WithThousands(not_compared.daemon)),
        "warning");
  }
  if (report.why_unanswered > 0)
    html += Paragraph(
        fmt::format("{} reasons are unknown: the daemon gave no answer.", report.why_unanswered), "warning");
  for (const std::string& warning : report.warnings)
    html += Paragraph("Warning: " + warning + ".", "warning");
  return html;
}

std::string AgreementChart(const AgreementCounts& total) {
  const uint64_t all = total.candidates();
  return StackedBar(
      "Agreement of the two filters",
      {{"Both let it through", total.neither, PartText(total.neither, all), kNeitherColor},
       {"Both drop it", total.both, PartText(total.both, all), kBothColor},
       {"Only the old filter drops it", total.only_old, PartText(total.only_old, all), kOldColor},
       {"Only this filter drops it", total.only_new, PartText(total.only_new, all), kNewColor}});
}

ChartGroup ReasonGroup(std::string_view who, const SideReport& side, const char* color) {
  ChartGroup group{fmt::format("Only {} drops: {}", who, WithThousands(side.items)), {}};
  for (const ReasonCount& count : side.reasons) {
    // Scales the sample's reasons to all differences. So the bars of both sides have the same scale.
    const double share = static_cast<double>(count.items) / static_cast<double>(side.asked);
    const auto estimate = static_cast<uint64_t>(std::llround(share * static_cast<double>(side.items)));
    const std::string_view about = side.asked < side.items ? "about " : "";
    group.bars.push_back(
        {count.reason.words, estimate,
         fmt::format("{}{} ({})", about, WithThousands(estimate), PercentText(count.items, side.asked)),
         color});
  }
  return group;
}

std::string ReasonChart(const CompareReport& report) {
  std::string html = BarList("What only one filter drops, by reason",
                             {ReasonGroup("the old filter", report.only_old, kOldColor),
                              ReasonGroup("this filter", report.only_new, kNewColor)});
  const uint64_t asked = report.only_old.asked + report.only_new.asked;
  const uint64_t items = report.only_old.items + report.only_new.items;
  if (asked < items) {
    html += Paragraph(fmt::format("The daemon gave the reasons of {} differences, drawn at random. The "
                                  "numbers are estimates from these differences.",
                                  WithThousands(asked)),
                      "note");
  }
  return html;
}

std::string ShareChart(const CompareReport& report) {
  std::vector<std::string> bins;
  bins.reserve(kShareBins);
  for (size_t bin = 0; bin < kShareBins; ++bin) bins.push_back(ShareBinText(bin));
  return Columns("Requests by the share of their candidates that is dropped", bins,
                 {{"Old filter", kOldColor, {report.old_shares.begin(), report.old_shares.end()}},
                  {"This filter", kNewColor, {report.new_shares.begin(), report.new_shares.end()}}});
}

std::string Examples(const CompareReport& report) {
  std::string rows;
  for (const SideReport* side : {&report.only_old, &report.only_new}) {
    for (const DifferenceExample& example : side->examples) {
      const FilterDifference& difference = example.difference;
      rows += fmt::format("<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>\n",
                          side == &report.only_old ? "the old filter" : "this filter",
                          EscapeMarkup(difference.user_id), EscapeMarkup(difference.item_id),
                          EscapeMarkup(example.reason.words), EscapeMarkup(difference.place));
    }
  }
  if (rows.empty()) return {};
  return "<details>\n<summary>Examples, for engineers</summary>\n<table>\n<tr><th>Only dropped "
         "by</th><th>User</th>"
         "<th>Item</th><th>Reason</th><th>Request</th></tr>\n" +
         rows + "</table>\n</details>\n";
}

}  // namespace

std::string ComparePage(const CompareReport& report) {
  std::string html(kHead);
  html += Summary(report) + Warnings(report);
  html += Heading("How often do the filters agree?") + AgreementChart(report.total);
  html += Heading("What does only one of them drop, and why?") + ReasonChart(report);
  html += Heading("How much of a request is dropped?") + ShareChart(report);
  html += Examples(report);
  return html + "</body>\n</html>\n";
}

}  // namespace seen
