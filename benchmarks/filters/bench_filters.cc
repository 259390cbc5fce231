// Measures every kind of filter, and prints a line of JSON for each figure. benchmarks/filters/run.py makes
// tables of the lines.
//
//   bench_filters [part=sizes|speed|all] [items=10,100,...] [false_positives=4000] [samples=5]
//
// `false_positives`: how many false positives a measurement of a rate waits for. The rate's relative error is
// about 1 / sqrt(false_positives).

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string>
#include <vector>

#include "common/arguments.h"
#include "filter/bloom.h"
#include "filters/kinds.h"
#include "filters/size_and_rate.h"
#include "filters/speed.h"

namespace seen::bench {
namespace {

constexpr double kRates[] = {0.01, 0.001};
constexpr size_t kItemsOfRecall = 3'000;
constexpr size_t kItemsMax = 10'000'000;

std::vector<double> RatesOf(const Kind& kind) {
  if (kind.IsFixed()) return {0.01};  // whatever rate is asked
  return {std::begin(kRates), std::end(kRates)};
}

/// From a million items on, also the rates for which others have published figures.
std::vector<double> RatesOf(const Kind& kind, size_t items) {
  std::vector<double> rates = RatesOf(kind);
  if (items < 1'000'000 || kind.shape.power_of_two) return rates;
  if (kind.shape.format == SnapshotFormat::kSplitBlockBloom) rates.push_back(0.0094);
  if (kind.shape.format == SnapshotFormat::kCuckoo) rates.push_back(0.0018);
  return rates;
}

/// "asked" is null if the kind has a fixed rate.
std::string Head(const char* what, const Kind& kind, double rate, size_t items) {
  char text[200];
  std::snprintf(text, sizeof(text), R"({"what":"%s","kind":"%s","asked":%s,"items":%zu)", what,
                kind.name.c_str(), kind.IsFixed() ? "null" : std::to_string(rate).c_str(), items);
  return text;
}

std::string Samples(const char* name, const std::vector<double>& values) {
  std::string text = std::string(",\"") + name + "\":[";
  char number[40];
  for (const double value : values) {
    std::snprintf(number, sizeof(number), "%s%.4g", text.back() == '[' ? "" : ",", value);
    text += number;
  }
  return text + "]";
}

void Print(const std::string& line) {
  std::printf("%s}\n", line.c_str());
  std::fflush(stdout);
}

void PrintSizeAndRate(const Kind& kind, double rate, size_t items, double false_positives) {
  const SizeAndRate found = MeasureSizeAndRate(kind, rate, items, false_positives);
  const double bloom_rate = std::clamp(found.rate, kRateMin, kRateMax);
  const auto bloom_bytes = static_cast<double>(BloomFilter::PayloadBytes(items, bloom_rate));
  char text[400];
  std::snprintf(
      text, sizeof(text),
      R"(,"bits":%.4f,"rate":%.4g,"rate_filters":%zu,"false_positives":%.0f,"strangers":%.0f,"bloom_ratio":%.4f,)"
      R"("lines_hit":%.3f,"lines_miss":%.3f,"removes":%s,"merges":%s)",
      8 * found.payload_bytes / static_cast<double>(items), found.rate, found.filters, found.false_positives,
      found.strangers, found.payload_bytes / bloom_bytes, found.lines_hit, found.lines_miss,
      kind.removes ? "true" : "false", kind.merges ? "true" : "false");
  Print(Head("kind", kind, rate, items) + text);
}

void PrintSpeed(const Kind& kind, double rate, size_t items, size_t samples) {
  const Speed speed = MeasureSpeed(kind, rate, items, samples);
  Print(Head("speed", kind, rate, items) + Samples("build_ns", speed.build_ns) +
        Samples("parse_ns", speed.parse_ns) + Samples("hit_ns", speed.hit_ns) +
        Samples("miss_ns", speed.miss_ns));
}

void PrintRecall(const Kind& kind, double rate, size_t samples) {
  const RecallSpeed speed = MeasureRecall(kind, rate, kItemsOfRecall, samples);
  Print(Head("recall", kind, rate, kItemsOfRecall) + Samples("ns", speed.ns) +
        Samples("with_parse_ns", speed.with_parse_ns));
}

/// Sizes of filters with few items, because most users have few items.
void PrintSmall(size_t filters) {
  constexpr size_t kSmall[] = {1, 2, 5, 10, 20, 50, 100};
  char text[100];
  for (const size_t items : kSmall) {
    for (const Kind& kind : Kinds()) {
      for (const double rate : RatesOf(kind)) {
        std::snprintf(text, sizeof(text), R"(,"bytes":%.1f)",
                      MeanPayloadBytes(kind.At(rate), items, filters));
        Print(Head("small", kind, rate, items) + text);
      }
    }
  }
}

void PrintAuto(const std::vector<size_t>& more) {
  std::vector<size_t> counts = {1, 2, 5, 10, 20, 50, 100};
  counts.insert(counts.end(), more.begin(), more.end());
  for (const size_t items : counts) {
    for (const double rate : kRates) {
      std::printf(R"({"what":"auto","asked":%g,"items":%zu,"kind":"%s"})"
                  "\n",
                  rate, items, std::string(SnapshotFormatName(FormatFor(items, rate))).c_str());
    }
  }
}

std::vector<size_t> ParseItems(const std::string& text) {
  std::vector<size_t> items;
  for (const char* at = text.data(); at <= text.data() + text.size();) {
    size_t value = 0;
    const auto [end, error] = std::from_chars(at, text.data() + text.size(), value);
    const bool whole = end == text.data() + text.size() || *end == ',';
    if (error != std::errc() || !whole || value < 1 || value > kItemsMax) {
      Die("items: \"" + text + "\" isn't numbers from 1 to " + std::to_string(kItemsMax) + " with commas");
    }
    items.push_back(value);
    at = end + 1;
  }
  return items;
}

int Main(int count, char** values) {
  const Arguments arguments(count, values);
  const std::string part = arguments.Text("part", "all");
  if (part != "all" && part != "sizes" && part != "speed")
    Die("part: \"" + part + "\"; it is sizes, speed or all");
  const std::vector<size_t> items = ParseItems(arguments.Text("items", "10,100,1000,3000,10000,1000000"));
  const auto false_positives = static_cast<double>(arguments.Number("false_positives", 4'000));
  const int64_t samples = arguments.Number("samples", 5);
  if (false_positives < 1 || false_positives > 1e6) Die("false_positives: it is 1 to 1000000");
  if (samples < 1 || samples > 1'000) Die("samples: it is 1 to 1000");

  // A process remembers the sizes of small filters only for its first few rates. Make these the asked rates.
  for (const Kind& kind : Kinds())
    for (const double rate : RatesOf(kind)) MeanPayloadBytes(kind.At(rate), 1, 1);

  if (part != "speed") {
    for (const size_t n : items)
      for (const Kind& kind : Kinds())
        for (const double rate : RatesOf(kind, n)) PrintSizeAndRate(kind, rate, n, false_positives);
    PrintSmall(std::clamp<size_t>(static_cast<size_t>(false_positives / 20), 5, 200));
    PrintAuto(items);
  }
  if (part != "sizes") {
    for (const size_t n : items)
      for (const Kind& kind : Kinds())
        for (const double rate : RatesOf(kind, n)) PrintSpeed(kind, rate, n, static_cast<size_t>(samples));
    for (const Kind& kind : Kinds())
      for (const double rate : RatesOf(kind)) PrintRecall(kind, rate, static_cast<size_t>(samples));
    Print(R"({"what":"hash")" + Samples("ns", MeasureHash(static_cast<size_t>(samples))));
  }
  return 0;
}

}  // namespace
}  // namespace seen::bench

int main(int count, char** values) { return seen::bench::Main(count, values); }
