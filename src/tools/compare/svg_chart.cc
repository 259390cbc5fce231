#include "tools/compare/svg_chart.h"

#include <fmt/format.h>

#include <algorithm>

#include "tools/progress.h"

namespace seen {
namespace {

constexpr double kWidth = 760;

std::string Begin(std::string_view title, double height) {
  return fmt::format(
      "<svg viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" aria-label=\"{}\" "
      "xmlns=\"http://www.w3.org/2000/svg\">\n<title>{}</title>\n",
      kWidth, height, EscapeMarkup(title), EscapeMarkup(title));
}

std::string Text(double x, double y, std::string_view text, std::string_view css = "",
                 std::string_view anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" text-anchor=\"{}\" class=\"{}\">{}</text>\n", x, y,
                     anchor, css, EscapeMarkup(text));
}

// `tip`: the text that a browser shows under the pointer.
std::string Bar(double x, double y, double width, double height, std::string_view color,
                std::string_view tip) {
  return fmt::format(
      "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" "
      "fill=\"{}\"><title>{}</title></rect>\n",
      x, y, width, height, EscapeMarkup(color), EscapeMarkup(tip));
}

// A value above 0 is always visible: it gets at least kLeast.
double Scaled(uint64_t value, uint64_t whole, double width) {
  if (value == 0 || whole == 0) return 0;
  constexpr double kLeast = 2;
  return std::max(kLeast, static_cast<double>(value) / static_cast<double>(whole) * width);
}

}  // namespace

std::string EscapeMarkup(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') {
          escaped += "\xEF\xBF\xBD";
        } else {
          escaped += c;
        }
    }
  }
  return escaped;
}

std::string StackedBar(std::string_view title, const std::vector<ChartPart>& parts) {
  constexpr double kBarHeight = 48;
  constexpr double kLine = 26;
  uint64_t whole = 0;
  double drawn = 0;
  for (const ChartPart& part : parts) whole += part.value;
  for (const ChartPart& part : parts) drawn += Scaled(part.value, whole, kWidth);
  std::string svg = Begin(title, kBarHeight + 16 + kLine * static_cast<double>(parts.size()));
  // If small parts are widened to be visible, the others become narrower.
  const double shrink = drawn > 0 ? kWidth / drawn : 1;
  double x = 0;
  double y = kBarHeight + 32;
  for (const ChartPart& part : parts) {
    const double width = Scaled(part.value, whole, kWidth) * shrink;
    if (width > 0) svg += Bar(x, 0, width, kBarHeight, part.color, part.label + ": " + part.text);
    x += width;
    svg += Bar(0, y - 12, 14, 14, part.color, part.label);
    svg += Text(24, y, part.label);
    svg += Text(kWidth, y, part.text, "number", "end");
    y += kLine;
  }
  return svg + "</svg>\n";
}

std::string BarList(std::string_view title, const std::vector<ChartGroup>& groups) {
  constexpr double kHeading = 34;
  constexpr double kRow = 44;
  constexpr double kBarHeight = 14;
  uint64_t most = 0;
  double height = 8;
  for (const ChartGroup& group : groups) {
    height += kHeading + kRow * static_cast<double>(group.bars.size());
    for (const ChartPart& bar : group.bars) most = std::max(most, bar.value);
  }
  std::string svg = Begin(title, height);
  double y = 0;
  for (const ChartGroup& group : groups) {
    svg += Text(0, y + 22, group.heading, "heading");
    y += kHeading;
    for (const ChartPart& bar : group.bars) {
      svg += Text(0, y + 14, bar.label);
      svg += Text(kWidth, y + 14, bar.text, "number", "end");
      svg += Bar(0, y + 20, kWidth, kBarHeight, "#eceff3", bar.label);
      svg +=
          Bar(0, y + 20, Scaled(bar.value, most, kWidth), kBarHeight, bar.color, bar.label + ": " + bar.text);
      y += kRow;
    }
  }
  return svg + "</svg>\n";
}

std::string Columns(std::string_view title, const std::vector<std::string>& bins,
                    const std::vector<ChartSeries>& series) {
  constexpr double kPlot = 220;
  constexpr double kTop = 44;
  constexpr double kHeight = kTop + kPlot + 44;
  uint64_t most = 0;
  for (const ChartSeries& one : series)
    most = std::max(most, *std::max_element(one.values.begin(), one.values.end()));
  std::string svg = Begin(title, kHeight);
  for (size_t s = 0; s < series.size(); ++s) {
    const double x = 170 * static_cast<double>(s);
    svg += Bar(x, 2, 14, 14, series[s].color, series[s].name);
    svg += Text(x + 22, 14, series[s].name);
  }
  const double bin_width = kWidth / static_cast<double>(bins.size());
  const double column = (bin_width - 12) / static_cast<double>(series.size());
  for (size_t bin = 0; bin < bins.size(); ++bin) {
    const double left = bin_width * static_cast<double>(bin) + 6;
    for (size_t s = 0; s < series.size(); ++s) {
      const uint64_t value = series[s].values[bin];
      const double height = Scaled(value, most, kPlot);
      const double x = left + column * static_cast<double>(s);
      if (value == 0) continue;
      svg += Bar(x, kTop + kPlot - height, column - 2, height, series[s].color,
                 fmt::format("{}, {}: {} requests", series[s].name, bins[bin], WithThousands(value)));
      svg += Text(x + column / 2 - 1, kTop + kPlot - height - 4, WithThousands(value), "small", "middle");
    }
    svg += Text(left + (bin_width - 12) / 2, kTop + kPlot + 18, bins[bin], "small", "middle");
  }
  svg += fmt::format("<line x1=\"0\" y1=\"{0:.1f}\" x2=\"{1:.1f}\" y2=\"{0:.1f}\" stroke=\"#5b6673\"/>\n",
                     kTop + kPlot, kWidth);
  return svg + "</svg>\n";
}

}  // namespace seen
