#include "tools/check/prometheus_text.h"

#include <charconv>
#include <limits>

namespace seen {
namespace {

using Labels = std::map<std::string, std::string>;

struct Sample {
  std::string_view name;
  Labels labels;
  double value = 0;
};

std::optional<double> ParseNumber(std::string_view text) {
  if (text == "+Inf" || text == "Inf") return std::numeric_limits<double>::infinity();
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// name{label="value",…} number [timestamp]; escapes in values: \\ \" \n.
std::optional<Sample> ParseSample(std::string_view line) {
  Sample sample;
  size_t at = line.find_first_of("{ ");
  if (line.starts_with('#') || at == std::string_view::npos) return std::nullopt;
  sample.name = line.substr(0, at);
  if (line[at] == '{') {
    ++at;
    while (at < line.size() && line[at] != '}') {
      const size_t equals = line.find("=\"", at);
      if (equals == std::string_view::npos) return std::nullopt;
      std::string& value = sample.labels[std::string(line.substr(at, equals - at))];
      for (at = equals + 2; at < line.size() && line[at] != '"'; ++at) {
        if (line[at] == '\\' && at + 1 < line.size()) {
          ++at;
          value.push_back(line[at] == 'n' ? '\n' : line[at]);
        } else {
          value.push_back(line[at]);
        }
      }
      ++at;  // the closing quote
      if (at < line.size() && line[at] == ',') ++at;
    }
    ++at;  // the closing brace
  }
  while (at < line.size() && line[at] == ' ') ++at;
  if (at >= line.size()) return std::nullopt;
  const auto value = ParseNumber(line.substr(at, line.find(' ', at) - at));
  if (!value) return std::nullopt;
  sample.value = *value;
  return sample;
}

bool Includes(const Labels& all, const Labels& wanted) {
  for (const auto& [label, value] : wanted) {
    const auto found = all.find(label);
    if (found == all.end() || found->second != value) return false;
  }
  return true;
}

template <typename Use>
void ForEachSample(std::string_view page, std::string_view name, const Labels& labels, Use use) {
  while (!page.empty()) {
    const size_t end = page.find('\n');
    const std::string_view line = page.substr(0, end);
    page.remove_prefix(end == std::string_view::npos ? page.size() : end + 1);
    if (!line.starts_with(name)) continue;
    const auto sample = ParseSample(line.ends_with('\r') ? line.substr(0, line.size() - 1) : line);
    if (sample && sample->name == name && Includes(sample->labels, labels)) use(*sample);
  }
}

}  // namespace

std::vector<HistogramBucket> ParseHistogram(std::string_view page, std::string_view name,
                                            const Labels& labels) {
  std::map<double, double> by_bound;
  ForEachSample(page, std::string(name) + "_bucket", labels, [&](const Sample& sample) {
    const auto le = sample.labels.find("le");
    const auto bound = le == sample.labels.end() ? std::nullopt : ParseNumber(le->second);
    if (bound) by_bound[*bound] += sample.value;
  });
  std::vector<HistogramBucket> buckets;
  buckets.reserve(by_bound.size());
  for (const auto& [bound, count] : by_bound) buckets.push_back({bound, count});
  return buckets;
}

std::optional<double> ParseSum(std::string_view page, std::string_view name, const Labels& labels) {
  std::optional<double> sum;
  ForEachSample(page, name, labels, [&](const Sample& sample) { sum = sum.value_or(0) + sample.value; });
  return sum;
}

std::vector<HistogramBucket> Since(const std::vector<HistogramBucket>& before,
                                   const std::vector<HistogramBucket>& after) {
  std::map<double, double> earlier;
  for (const HistogramBucket& bucket : before) earlier[bucket.upper_bound] = bucket.cumulative;
  std::vector<HistogramBucket> difference = after;
  for (HistogramBucket& bucket : difference) bucket.cumulative -= earlier[bucket.upper_bound];
  return difference;
}

std::optional<double> Quantile(const std::vector<HistogramBucket>& buckets, double quantile) {
  if (buckets.empty() || buckets.back().cumulative <= 0) return std::nullopt;
  const double rank = quantile * buckets.back().cumulative;
  double lower_bound = 0;
  double below = 0;
  for (const HistogramBucket& bucket : buckets) {
    if (bucket.cumulative >= rank && bucket.cumulative > below) {
      if (bucket.upper_bound == std::numeric_limits<double>::infinity()) return lower_bound;
      return lower_bound + (bucket.upper_bound - lower_bound) * (rank - below) / (bucket.cumulative - below);
    }
    lower_bound = bucket.upper_bound;
    below = bucket.cumulative;
  }
  return lower_bound;
}

}  // namespace seen
