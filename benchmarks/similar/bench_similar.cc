// Measures how well the daemon's code finds near-duplicates among given texts. Prints lines of JSON, from
// which benchmarks/similar/run.py makes tables and charts.
//
//   bench_similar items=FILE part=distances pairs=FILE
//     prints by how many bits SimHashes differ, for all pairs and for those in `pairs` (two line numbers a
//     line, from 0)
//   bench_similar items=FILE part=near runs=both/sketch/3,simhash/off/3 folder=DIR
//   [similarity_min_percent=80] [containment_min_percent=0 (off)]
//     prints the similar items: for each of `runs` (method, verify, distance_max) the lines of the items,
//     then the line of the run. `folder` is emptied. by=all: compares every pair instead
//
// How texts are read: text_version=5 (1 or 2: as in older indexes, with their defaults of all that follows),
// segmentation=trigrams (or another of items.segmentation), folding=1 (0: none), numbers=distinct (or
// ignored), tokens_min=6, boilerplate=FILE (one pattern a line).

#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "common/arguments.h"
#include "similar/distances.h"
#include "similar/near.h"
#include "similar/port/boilerplate.h"
#include "similar/texts.h"

namespace seen::bench {
namespace {

std::vector<Pair> ReadPairs(const std::string& path, size_t items) {
  std::ifstream file(path);
  if (!file) Die("pairs: " + path + " can't be opened");
  std::vector<Pair> pairs;
  for (uint32_t i = 0, j = 0; file >> i >> j;) {
    if (i >= items || j >= items)
      Die("pairs: " + path + " has a line that " + std::to_string(items) + " items don't have");
    pairs.emplace_back(i, j);
  }
  return pairs;
}

void PrintCounts(const char* name, const Distances& counts) {
  std::printf(",\"%s\":[", name);
  for (size_t d = 0; d < counts.size(); ++d) std::printf("%s%lu", d > 0 ? "," : "", counts[d]);
  std::printf("]");
}

void PrintFeatures(const Texts& texts) {
  uint64_t words = 0, of_short = 0, of_none = 0, sketch = 0;
  for (const ItemFeatures& item : texts.features) {
    words += item.words;
    of_short += item.length == LengthClass::kShort;
    of_none += item.length == LengthClass::kEmpty;
    sketch += item.sketch.values.size();
  }
  std::printf(
      R"({"what":"features","items":%zu,"bytes":%lu,"seconds":%.4f,"words":%lu,"short":%lu,"none":%lu,)"
      R"("sketch_values":%lu})"
      "\n",
      texts.features.size(), texts.bytes, texts.seconds, words, of_short, of_none, sketch);
}

void PrintDistances(const Texts& texts, const std::string& pairs_path) {
  const auto all = DistancesOfAll(texts.features);
  const auto of_pairs = DistancesOf(texts.features, ReadPairs(pairs_path, texts.features.size()));
  constexpr const char* kNames[] = {"short", "long", "mixed"};
  for (size_t lengths = 0; lengths < kLengths; ++lengths) {
    std::printf(R"({"what":"distances","lengths":"%s")", kNames[lengths]);
    PrintCounts("all", all[lengths]);
    PrintCounts("pairs", of_pairs[lengths]);
    std::printf("}\n");
  }
}

void PrintAlike(const char* name, const std::vector<Alike>& alike) {
  std::printf(",\"%s\":[", name);
  const char* comma = "";
  for (const Alike& one : alike) {
    std::printf("%s[%u,%.4f,%d,\"%s\",%.4f]", comma, one.item, one.near.similarity.value_or(-1),
                one.near.distance, std::string(FoundByName(one.near.found)).c_str(),
                one.near.containment.value_or(-1));
    comma = ",";
  }
  std::printf("]");
}

void PrintFound(const Texts& texts, const Run& run, const Found& found) {
  for (size_t i = 0; i < found.similar.size(); ++i) {
    const bool grouped = !found.group.empty() && found.group[i] != i;
    const bool listed = !found.near.empty() && !found.near[i].empty();
    if (found.similar[i].empty() && !grouped && !listed) continue;
    std::printf(R"({"what":"item","item":%zu)", i);
    PrintAlike("similar", found.similar[i]);
    if (!found.near.empty()) PrintAlike("near", found.near[i]);
    if (!found.group.empty()) std::printf(",\"group\":%u", found.group[i]);
    std::printf("}\n");
  }
  const GroupFigures& figures = found.figures;
  std::printf(
      R"({"what":"run","run":"%s","items":%zu,"apply_s":%.4f,"similar_s":%.4f,"bytes":%lu,"copies":%lu,"grouped":%lu,)"
      R"("candidates":%lu,"compared":%lu,"lists_cut":%lu,"candidates_cut":%lu})"
      "\n",
      run.name.c_str(), texts.features.size(), found.apply_s, found.similar_s, figures.bytes,
      figures.copies_total, figures.grouped_total, figures.candidates_total, figures.compared_total,
      figures.lists_cut_total, figures.candidates_cut_total);
}

Run RunOf(const std::string& name, const GroupOptions& options) {
  const auto wrong = [&] { Die("runs: \"" + name + "\"; such as both/sketch/3 or simhash/off/0"); };
  Run run{.name = name, .options = options};
  const size_t first = name.find('/'), last = name.rfind('/');
  if (first == std::string::npos || first == last || last + 2 != name.size()) wrong();
  const auto method = SimilarMethodNamed(name.substr(0, first));
  const std::string verify = name.substr(first + 1, last - first - 1);
  run.options.distance_max = name.back() - '0';
  if (!method) wrong();
  if (verify != "off" && verify != "sketch") wrong();
  if (run.options.distance_max < 0 || run.options.distance_max > 3) wrong();
  run.options.method = *method;
  run.options.verify = verify == "sketch";
  return run;
}

std::vector<Run> RunsOf(const std::string& text, const GroupOptions& options) {
  std::vector<Run> runs;
  std::stringstream names(text);
  for (std::string name; std::getline(names, name, ',');) runs.push_back(RunOf(name, options));
  if (runs.empty()) Die("runs: none; such as both/sketch/3,simhash/off/0");
  return runs;
}

// The defaults of the version: an index of that version has them.
TextRules RulesOfVersion(uint32_t version) {
  if (version == 1) return FirstTextRules();
  TextRules rules;
  rules.version = version;
  if (version == 2) {
    rules.numbers = Numbers::kIgnored;
    rules.tokens_min = 0;
  }
  return rules;
}

TextRules RulesOf(const Arguments& arguments, const GroupOptions& options) {
  TextRules rules = RulesOfVersion(static_cast<uint32_t>(arguments.Number("text_version", kTextVersion)));
  rules.beginnings = options.containment_min > 0;
  const std::string segmentation =
      arguments.Text("segmentation", std::string(SegmentationName(rules.segmentation)));
  const auto named = SegmentationNamed(segmentation);
  if (!named) Die("segmentation: \"" + segmentation + "\"; such as trigrams or dictionary");
  rules.segmentation = *named;
  const auto numbers = NumbersNamed(arguments.Text("numbers", std::string(NumbersName(rules.numbers))));
  if (!numbers) Die("numbers: it is distinct or ignored");
  rules.numbers = *numbers;
  rules.tokens_min = static_cast<uint32_t>(arguments.Number("tokens_min", rules.tokens_min));
  rules.folding_version = arguments.Number("folding", rules.folding_version) != 0 ? kFoldingVersion : 0;
  if (const std::string path = arguments.Text("boilerplate", ""); !path.empty()) {
    std::ifstream file(path);
    if (!file) Die("boilerplate: " + path + " can't be opened");
    std::vector<std::string> patterns;
    for (std::string line; std::getline(file, line);) patterns.push_back(line);
    auto compiled = Boilerplate::Compile(std::move(patterns));
    if (!compiled) Die("boilerplate: " + compiled.error().message);
    rules.boilerplate = std::move(*compiled);
  }
  return rules;
}

int Main(int count, char** values) {
  const Arguments arguments(count, values);
  const std::string part = arguments.Text("part", "near");
  if (part != "near" && part != "distances") Die("part: \"" + part + "\"; it is near or distances");
  const std::string by = arguments.Text("by", "flow");
  if (by != "flow" && by != "all") Die("by: \"" + by + "\"; it is flow or all");
  const int64_t percent = arguments.Number("similarity_min_percent", 80);
  if (percent < 1 || percent > 100) Die("similarity_min_percent: it is 1 to 100");
  const int64_t contained = arguments.Number("containment_min_percent", 0);
  if (contained < 0 || contained > 100) Die("containment_min_percent: it is 0 to 100");
  const GroupOptions options{.similarity_min = static_cast<double>(percent) / 100,
                             .containment_min = static_cast<double>(contained) / 100};
  const std::vector<Run> runs =
      part == "near" ? RunsOf(arguments.Text("runs", "both/sketch/3"), options) : std::vector<Run>();
  const std::string folder = arguments.Text("folder");
  if (part == "near" && by == "flow" && folder.empty()) Die("folder: missing; it is where the index goes");

  const Texts texts = ReadTexts(arguments.Text("items"), options.similarity_min, RulesOf(arguments, options));
  PrintFeatures(texts);
  if (part == "distances") PrintDistances(texts, arguments.Text("pairs"));
  for (const Run& run : runs) {
    PrintFound(texts, run,
               by == "all" ? CompareAll(texts, run.options) : RunFlow(texts, run.options, folder));
  }
  return 0;
}

}  // namespace
}  // namespace seen::bench

int main(int count, char** values) { return seen::bench::Main(count, values); }
