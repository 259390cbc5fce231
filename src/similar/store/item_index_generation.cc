#include "similar/store/item_index_generation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "rocks/rocks_status.h"
#include "similar/port/boilerplate.h"

namespace seen {
namespace {

constexpr std::string_view kFirstLine = "seen index of items 1";
constexpr std::string_view kFirstLinePrefix = "seen index of items ";
constexpr std::string_view kRemedy =
    "Remedy: set it back, or start with --rebuild, which builds the index again from the log";

// One line of the file, in the file's order. `key`: its key in the configuration; empty: it has none.
struct Line {
  std::string_view name;
  std::string_view key;
  std::string value;
  std::string shown = {};      // for people, if it isn't `value`
  uint32_t since_version = 1;  // of the features: older files don't have the line
};

// Patterns have no control characters: Boilerplate::Compile refuses them.
std::string ToLine(const std::vector<std::string>& patterns) {
  return fmt::format("{}{}{}", patterns.size(), patterns.empty() ? "" : "\t", fmt::join(patterns, "\t"));
}

std::string ForPeople(const std::vector<std::string>& patterns) {
  return patterns.empty() ? "no pattern" : fmt::format("\"{}\"", fmt::join(patterns, "\", \""));
}

// nullopt: ToLine didn't write it.
std::optional<std::vector<std::string>> PatternsOf(std::string_view line) {
  std::vector<std::string> patterns;
  const size_t tab = line.find('\t');
  for (size_t at = tab; at != line.npos;) {
    const size_t end = line.find('\t', at + 1);
    patterns.emplace_back(line.substr(at + 1, end == line.npos ? line.npos : end - at - 1));
    at = end;
  }
  if (ToLine(patterns) != line) return std::nullopt;
  return patterns;
}

std::vector<Line> LinesOf(const IndexGeneration& of) {
  return {{"method", "items.method", std::string(SimilarMethodName(of.method))},
          {"distance_max", "items.distance_max", fmt::format("{}", of.distance_max)},
          {"similarity_min", "items.similarity_min", fmt::format("{}", of.similarity_min)},
          {"verify", "items.verify", of.verify},
          {"window_days", "items.window_days", fmt::format("{}", of.window_days)},
          {"text_bytes_max", "items.text_bytes_max", fmt::format("{}", of.text_bytes_max)},
          {"features_version", "", fmt::format("{}", of.features_version)},
          {"idf_version", "", fmt::format("{}", of.idf_version)},
          {"folding_version", "", fmt::format("{}", of.folding_version), "", 2},
          {"segmentation", "items.segmentation", std::string(SegmentationName(of.segmentation)), "", 2},
          {"boilerplate", "items.boilerplate", ToLine(of.boilerplate), ForPeople(of.boilerplate), 2},
          {"numbers", "items.numbers", std::string(NumbersName(of.numbers)), "", 3},
          {"tokens_min", "items.tokens_min", fmt::format("{}", of.tokens_min), "", 3},
          {"containment_min", "items.containment_min", fmt::format("{}", of.containment_min), "", 4}};
}

template <typename Number>
bool Parse(const std::string& text, Number& out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc{} && end == text.data() + text.size();
}

rocksdb::IOStatus WriteDurably(rocksdb::FileSystem& files, const std::string& directory,
                               const std::string& name, std::string_view text) {
  const rocksdb::IOOptions io;
  const std::string path = directory + "/" + name;
  const std::string unfinished = path + ".new";
  rocksdb::IOStatus done =
      rocksdb::WriteStringToFile(&files, rocksdb::Slice(text), unfinished, /*should_sync=*/true);
  if (done.ok()) done = files.RenameFile(unfinished, path, io, nullptr);
  std::unique_ptr<rocksdb::FSDirectory> folder;
  if (done.ok()) done = files.NewDirectory(directory, io, &folder, nullptr);
  if (done.ok()) done = folder->Fsync(io, nullptr);
  return done;
}

Result<std::string> ReadAll(rocksdb::FileSystem& files, const std::string& path) {
  std::string text;
  const rocksdb::IOStatus read = rocksdb::ReadFileToString(&files, path, &text);
  if (!read.ok()) return Fail(ToError(read, "can't read " + path));
  return text;
}

using Values = std::map<std::string, std::string, std::less<>>;

// False: a value can't be read. An index has the first rules for all that its version doesn't record.
bool ReadTextRules(Values& values, IndexGeneration& generation) {
  const TextRules first = FirstTextRules();
  generation.numbers = first.numbers;
  generation.tokens_min = first.tokens_min;
  generation.containment_min = 0;
  if (generation.features_version < 2) {
    generation.folding_version = first.folding_version;
    generation.segmentation = first.segmentation;
    return true;
  }
  const auto segmentation = SegmentationNamed(values["segmentation"]);
  auto patterns = PatternsOf(values["boilerplate"]);
  if (!segmentation || !patterns) return false;
  generation.segmentation = *segmentation;
  generation.boilerplate = std::move(*patterns);
  if (!Parse(values["folding_version"], generation.folding_version)) return false;
  if (generation.features_version < 3) return true;
  const auto numbers = NumbersNamed(values["numbers"]);
  generation.numbers = numbers.value_or(kDefaultNumbers);
  if (!numbers || !Parse(values["tokens_min"], generation.tokens_min)) return false;
  return generation.features_version < 4 || Parse(values["containment_min"], generation.containment_min);
}

}  // namespace

std::string EncodeGeneration(const IndexGeneration& generation) {
  std::string text = fmt::format("{}\n", kFirstLine);
  for (const Line& line : LinesOf(generation)) {
    if (line.since_version <= generation.features_version)
      text += fmt::format("{} {}\n", line.name, line.value);
  }
  return text;
}

Result<IndexGeneration> DecodeGeneration(std::string_view text) {
  Values values;
  std::string_view first;
  for (size_t begin = 0, end = 0; end = text.find('\n', begin), end != text.npos; begin = end + 1) {
    const std::string_view line = text.substr(begin, end - begin);
    const size_t space = line.find(' ');
    if (begin == 0) {
      first = line;
    } else if (space != line.npos) {
      values.emplace(line.substr(0, space), line.substr(space + 1));
    }
  }
  if (first != kFirstLine && first.starts_with(kFirstLinePrefix)) {
    return Fail(Code::kRefused,
                fmt::format("the index of items was written by a newer version ({}): run that one, "
                            "or start with --rebuild",
                            first));
  }
  IndexGeneration generation;
  const auto method = SimilarMethodNamed(values["method"]);
  generation.method = method.value_or(SimilarMethod::kBoth);
  generation.verify = values["verify"];
  const bool parsed = first == kFirstLine && method &&
                      Parse(values["distance_max"], generation.distance_max) &&
                      Parse(values["similarity_min"], generation.similarity_min) &&
                      Parse(values["window_days"], generation.window_days) &&
                      Parse(values["text_bytes_max"], generation.text_bytes_max) &&
                      Parse(values["features_version"], generation.features_version) &&
                      Parse(values["idf_version"], generation.idf_version);
  if (parsed && generation.features_version > kFeaturesVersion)
    return generation;  // CheckGeneration refuses it
  if (!parsed || !ReadTextRules(values, generation)) {
    return Fail(Code::kCorrupt,
                "what the index of items was built with can't be read. Remedy: check the disk, then start "
                "with --rebuild");
  }
  return generation;
}

IndexGeneration Adapted(const IndexGeneration& stored, IndexGeneration configured, KeptSettings kept) {
  if (kept.method) configured.method = stored.method;
  if (kept.segmentation) configured.segmentation = stored.segmentation;
  if (kept.numbers) configured.numbers = stored.numbers;
  if (kept.tokens_min) configured.tokens_min = stored.tokens_min;
  if (kept.containment_min) configured.containment_min = stored.containment_min;
  // The versions of a newer program, and the lost ones, stay different: CheckGeneration refuses them.
  if (kept.versions && !IsLostTextVersion(stored.features_version) &&
      stored.features_version <= configured.features_version &&
      stored.folding_version <= configured.folding_version) {
    configured.features_version = stored.features_version;
    configured.folding_version = stored.folding_version;
  }
  return configured;
}

Result<FeatureOptions> FeatureOptionsOf(const IndexGeneration& generation,
                                        std::shared_ptr<const IdfTable> idf) {
  auto boilerplate = Boilerplate::Compile(generation.boilerplate);
  if (!boilerplate) return Fail(std::move(boilerplate.error()));
  return FeatureOptions{.idf = std::move(idf),
                        .similarity_min = generation.similarity_min,
                        .text_bytes_max = generation.text_bytes_max,
                        .rules = {.version = generation.features_version,
                                  .folding_version = generation.folding_version,
                                  .segmentation = generation.segmentation,
                                  .numbers = generation.numbers,
                                  .tokens_min = generation.tokens_min,
                                  .beginnings = generation.containment_min > 0,
                                  .boilerplate = std::move(*boilerplate)}};
}

Status CheckGeneration(const IndexGeneration& stored, const IndexGeneration& configured) {
  const auto was = LinesOf(stored);
  const auto is = LinesOf(configured);
  for (size_t i = 0; i < was.size(); ++i) {
    if (was[i].value == is[i].value || was[i].name == "idf_version") continue;
    if (was[i].key.empty()) {
      return Fail(
          Code::kRefused,
          fmt::format("the index of items was built with version {} of {}, and this program has "
                      "version {}. Remedy: start with --rebuild, which builds the index again from "
                      "the log",
                      was[i].value,
                      was[i].name == "folding_version" ? "the table of folding" : "the features of texts",
                      is[i].value));
    }
    const auto shown = [](const Line& line) { return line.shown.empty() ? line.value : line.shown; };
    return Fail(Code::kRefused, fmt::format("{}: the index of items was built with {}, configured is {}. {}",
                                            was[i].key, shown(was[i]), shown(is[i]), kRemedy));
  }
  return {};
}

rocksdb::Status WriteGeneration(rocksdb::FileSystem& files, const std::string& directory,
                                const IndexGeneration& generation, std::string_view idf_text) {
  rocksdb::IOStatus done = WriteDurably(files, directory, "idf.txt", idf_text);
  if (done.ok()) done = WriteDurably(files, directory, "generation", EncodeGeneration(generation));
  return done;
}

Result<std::optional<IndexGeneration>> ReadGeneration(rocksdb::FileSystem& files,
                                                      const std::string& directory) {
  const std::string path = directory + "/generation";
  if (!files.FileExists(path, rocksdb::IOOptions(), nullptr).ok()) return std::optional<IndexGeneration>{};
  const auto text = ReadAll(files, path);
  if (!text) return Fail(text.error());
  const auto decoded = DecodeGeneration(*text);
  if (!decoded) return Fail(decoded.error().code, path + ": " + decoded.error().message);
  return std::optional(*decoded);
}

Result<std::string> ReadIdfText(rocksdb::FileSystem& files, const std::string& directory) {
  return ReadAll(files, directory + "/idf.txt");
}

}  // namespace seen
