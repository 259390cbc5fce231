#pragma once
// Charts as SVG elements for a page. Every text is escaped.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Escapes text for HTML and SVG, including attributes. Bytes that XML forbids become U+FFFD.
std::string EscapeMarkup(std::string_view text);

struct ChartPart {
  std::string label;
  uint64_t value = 0;
  std::string text;  // the value as text: "12,345 (3.10%)"
  std::string color;
};

/// One bar of all parts, and a legend with one line per part.
std::string StackedBar(std::string_view title, const std::vector<ChartPart>& parts);

struct ChartGroup {
  std::string heading;
  std::vector<ChartPart> bars;
};

/// One bar per part, all on the same scale. A group without bars has only its heading.
std::string BarList(std::string_view title, const std::vector<ChartGroup>& groups);

struct ChartSeries {
  std::string name;
  std::string color;
  std::vector<uint64_t> values;  // by bin
};

/// Columns side by side: for each bin, one column per series.
std::string Columns(std::string_view title, const std::vector<std::string>& bins,
                    const std::vector<ChartSeries>& series);

}  // namespace seen
