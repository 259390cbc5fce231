// From text to features: a reader's time for a text and for one of its bytes. The texts have words like those
// of the bundled table, and 500 characters unless a benchmark says otherwise. Each round reads another text.
#include <benchmark/benchmark.h>

#include <random>

#include "similar/text/feature_reader.h"

namespace seen::micro {
namespace {

constexpr size_t kTexts = 512;

constexpr std::string_view kEnglish[] = {
    "the",     "package", "of",    "and",     "library",   "a",         "development", "files",
    "for",     "to",      "is",    "this",    "with",      "provides",  "Python",      "module",
    "support", "in",      "that",  "data",    "program",   "which",     "network",     "from",
    "can",     "be",      "GNOME", "server",  "simple",    "interface", "client",      "used",
    "HTTP",    "parser",  "it",    "written", "graphical", "tool",      "audio",       "kernel"};
constexpr std::string_view kChinese[] = {"软件", "提供", "一个", "文件", "的",   "支持", "系统",
                                         "管理", "使用", "工具", "用户", "程序", "功能", "包含",
                                         "网络", "数据", "开发", "界面", "语言", "环境"};
constexpr std::string_view kRussian[] = {"Пакет",      "содержит", "файлы",     "для",
                                         "разработки", "и",        "программа", "сервера"};

std::vector<std::string> Texts(std::span<const std::string_view> words, std::string_view between,
                               size_t characters, size_t bytes_each) {
  std::mt19937_64 random(1);
  std::vector<std::string> texts(kTexts);
  for (std::string& text : texts) {
    for (size_t i = 1; text.size() < characters * bytes_each; ++i) {
      text += words[random() % words.size()];
      if (random() % 3 == 0 && bytes_each == 1) text += std::to_string(random() % 1000);
      text += i % 9 == 0 ? (bytes_each == 3 ? "，" : ", ") : between;
    }
  }
  return texts;
}

void Read(benchmark::State& state, const std::vector<std::string>& texts, const TextRules& rules = {}) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = rules});
  ItemFeatures features;
  size_t next = 0, bytes = 0;
  for (auto _ : state) {
    const std::string& text = texts[next++ % kTexts];
    bytes += text.size();
    reader.Read({.text = text}, features);
    benchmark::DoNotOptimize(features.simhash);
  }
  state.SetBytesProcessed(static_cast<int64_t>(bytes));
}

void English(benchmark::State& state) {
  Read(state, Texts(kEnglish, " ", static_cast<size_t>(state.range(0)), 1));
}
BENCHMARK(English)->Arg(60)->Arg(500)->Arg(5000)->Arg(100'000);

void EnglishWithMarkup(benchmark::State& state) {
  auto texts = Texts(kEnglish, " ", 500, 1);
  for (std::string& text : texts)
    text = "<p class=\"x\">" + text + "</p><br>it\xe2\x80\x99s &amp; <b>more</b> https://a.org/b?c=d";
  Read(state, texts);
}
BENCHMARK(EnglishWithMarkup);

void Russian(benchmark::State& state) { Read(state, Texts(kRussian, " ", 500, 2)); }
BENCHMARK(Russian);

void Chinese(benchmark::State& state, Segmentation segmentation) {
  Read(state, Texts(kChinese, "", 500, 3), {.segmentation = segmentation});
}
BENCHMARK_CAPTURE(Chinese, trigrams, Segmentation::kTrigrams);
BENCHMARK_CAPTURE(Chinese, bigrams_trigrams, Segmentation::kBigramsTrigrams);
BENCHMARK_CAPTURE(Chinese, dictionary, Segmentation::kDictionary);
BENCHMARK_CAPTURE(Chinese, dictionary_trigrams, Segmentation::kDictionaryTrigrams);

void CompareSketches(benchmark::State& state) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  std::vector<ItemFeatures> features(kTexts);
  const auto texts = Texts(kEnglish, " ", static_cast<size_t>(state.range(0)), 1);
  for (size_t i = 0; i < kTexts; ++i) reader.Read({.text = texts[i]}, features[i]);
  size_t next = 0;
  for (auto _ : state) {
    ++next;
    benchmark::DoNotOptimize(
        SketchSimilarity(features[next % kTexts].sketch, features[(next * 7 + 1) % kTexts].sketch));
  }
}
BENCHMARK(CompareSketches)->Arg(500)->Arg(5000);

}  // namespace
}  // namespace seen::micro
