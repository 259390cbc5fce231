#pragma once
// Charts as SVG elements that stand in a page. Every text is escaped.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Text as it may stand in HTML and SVG, also in attributes. Bytes that XML forbids become U+FFFD.
std::string EscapeMarkup(std::string_view text);

struct ChartPart {
  std::string label;
  uint64_t value = 0;
  std::string text;  // of the value: "12,345 (3.10%)"
  std::string color;
};

/// One bar of all parts, and a legend with a line for each.
std::string StackedBar(std::string_view title, const std::vector<ChartPart>& parts);

struct ChartGroup {
  std::string heading;
  std::vector<ChartPart> bars;
};

/// A bar for each part, all by one scale. A group without bars has its heading alone.
std::string BarList(std::string_view title, const std::vector<ChartGroup>& groups);

struct ChartSeries {
  std::string name;
  std::string color;
  std::vector<uint64_t> values;  // by bin
};

/// Columns beside each other, a column of each series for each bin.
std::string Columns(std::string_view title, const std::vector<std::string>& bins,
                    const std::vector<ChartSeries>& series);

}  // namespace seen
