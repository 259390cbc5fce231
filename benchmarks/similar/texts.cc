#include "similar/texts.h"

#include <algorithm>
#include <chrono>
#include <fstream>
#include <thread>

#include "common/arguments.h"
#include "similar/port/item_decoder.h"
#include "similar/text/feature_reader.h"

namespace seen::bench {
namespace {

constexpr size_t kItemsMax = 10'000'000;
constexpr uint64_t kRecordBytesMax = 16 << 20;

std::vector<std::string> Lines(const std::string& path) {
  std::ifstream file(path);
  if (!file) Die("items: " + path + " can't be opened; benchmarks/similar/descriptions.py makes such files");
  std::vector<std::string> lines;
  for (std::string line; std::getline(file, line);)
    if (!line.empty()) lines.push_back(std::move(line));
  if (lines.empty() || lines.size() > kItemsMax) {
    Die("items: " + path + " has " + std::to_string(lines.size()) + " lines; it is 1 to " +
        std::to_string(kItemsMax));
  }
  return lines;
}

/// Reads every `step`th line from `first`. Returns the seconds spent, without the parsing of JSON.
double ReadSome(const std::vector<std::string>& lines, size_t first, size_t step,
                const FeatureOptions& options, Texts& out) {
  FeatureReader reader(options);
  ItemDecoder decoder({}, kRecordBytesMax);
  std::chrono::steady_clock::duration spent{};
  for (size_t i = first; i < lines.size(); i += step) {
    const auto item = decoder.Decode(lines[i]);
    if (!item) Die("items: line " + std::to_string(i + 1) + " is no item");
    out.item_ids[i] = item->item_id;
    const auto begin = std::chrono::steady_clock::now();
    reader.Read({.title = item->title, .text = item->text, .lang = item->lang}, out.features[i]);
    spent += std::chrono::steady_clock::now() - begin;
  }
  return std::chrono::duration<double>(spent).count();
}

}  // namespace

Texts ReadTexts(const std::string& path, double similarity_min, const TextRules& rules) {
  const FeatureOptions options{.idf = IdfTable::Bundled(), .similarity_min = similarity_min, .rules = rules};
  const std::vector<std::string> lines = Lines(path);
  Texts texts;
  texts.item_ids.resize(lines.size());
  texts.features.resize(lines.size());
  for (const std::string& line : lines) texts.bytes += line.size();
  const size_t threads = std::clamp<size_t>(std::thread::hardware_concurrency(), 1, 16);
  std::vector<double> seconds(threads);
  {
    std::vector<std::jthread> running;
    for (size_t t = 0; t < threads; ++t) {
      running.emplace_back([&, t] { seconds[t] = ReadSome(lines, t, threads, options, texts); });
    }
  }
  for (const double part : seconds) texts.seconds += part;
  return texts;
}

}  // namespace seen::bench
