// seen_idf: a table with the number of items that contain each word, for items.idf_file.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/durable_file.h"
#include "similar/text/feature_reader.h"
#include "similar/word_counts.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/history/line_reader.h"
#include "tools/load/items_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

constexpr uint64_t kWordsMaxMax = 5'000'000;  // the limit of a daemon
constexpr uint64_t kWordsKeptMin = 1'000'000;

struct IdfOptions {
  ItemsTopicOptions items;
  std::vector<std::string> files;
  uint64_t words_max = 200'000;
  uint64_t documents_min = 2;
  std::string out;
  bool json = false;
  bool quiet = false;
};

Status Write(const std::string& out, const std::string& text) {
  if (!out.empty() && out != "-") {
    // Whole or not at all: a daemon may read the file at any time.
    const Status written = WriteDurably(out, text);
    return written ? Status()
                   : Fail(written.error().code, fmt::format("--out: {}: {}", out, written.error().message));
  }
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return {};
  return Fail(Code::kUnavailable, fmt::format("standard output: {}", std::strerror(errno)));
}

Status CheckOptions(const IdfOptions& options) {
  if (options.words_max < 1 || options.words_max > kWordsMaxMax) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--words-max: {} is outside 1 to {}", options.words_max, kWordsMaxMax));
  }
  if (options.documents_min < 1) return Fail(Code::kInvalidArgument, "--documents-min: 0: must be 1 or more");
  if (!options.files.empty() && options.items.TopicIsGiven()) {
    return Fail(Code::kInvalidArgument, "--topic: FILES are given as well; leave one of them out");
  }
  if (options.json && (options.out.empty() || options.out == "-"))
    return Fail(Code::kInvalidArgument, "--json: standard output has the table; give --out FILE");
  return {};
}

Result<ItemCounts> ReadFiles(const std::vector<std::string>& files, const ItemFormat& format,
                             const UseItem& use) {
  ItemDecoder decoder(format, kItemBytesMax);
  ItemCounts counts;
  for (const std::string& file : files) {
    auto lines = LineReader::Open(file);
    if (!lines) return Fail(lines.error());
    std::string_view line;
    while (true) {
      const auto more = lines->Next(line);
      if (!more) return Fail(more.error());
      if (!*more) break;
      if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
      if (line.empty()) continue;
      const auto item = decoder.Decode(line);
      if (item) {
        ++counts.items;
        use(*item, SystemClock().WallNow());
      } else if (counts.skipped++ == 0) {
        counts.first_skipped =
            fmt::format("{}: line {}: {}", file, lines->line_number(), item.error().message);
      }
    }
  }
  return counts;
}

int RunIdf(const IdfOptions& options) {
  if (auto status = CheckOptions(options); !status) return ExitWith(status.error());
  const auto read = options.items.Read();
  if (!read) return ExitWith(read.error());
  WholeTopic topic = read->topic;
  if (!options.quiet) topic.task = "idf";
  CatchInterrupts();

  FeatureReader reader({.idf = IdfTable::Bundled(),
                        .text_bytes_max = read->items.text_bytes_max,
                        .rules = TextRulesOf(read->items)});
  WordCounts words(std::max(kWordsKeptMin, 4 * options.words_max));
  uint64_t deleted = 0;
  const auto use = [&](const ItemEvent& item, TimeMs) {
    if (item.deleted) {
      ++deleted;
      return;
    }
    words.Add(reader.Words({item.title, item.text, item.lang}));
  };
  const auto counts = options.files.empty() ? ReadItems(topic, read->items.format, use)
                                            : ReadFiles(options.files, read->items.format, use);
  if (!counts) return ExitWith(counts.error());
  if (!counts->first_skipped.empty() && !options.quiet)
    fmt::print(stderr, "seenctl: the first skipped record: {}\n", counts->first_skipped);
  if (words.documents() == 0) {
    return ExitWith(
        {Code::kNotFound, fmt::format("{}: none of the {} items has a word (title, text). If your items have "
                                      "other fields, give a configuration with items.fields by --config",
                                      options.files.empty() ? "topic " + topic.topic : "FILES",
                                      WithThousands(counts->items))});
  }
  const auto frequent = words.MostFrequent(options.words_max, options.documents_min);
  std::vector<std::string> comments = {fmt::format("{} words in {} documents or more; made by seen_idf",
                                                   frequent.size(), options.documents_min)};
  if (words.undercount() > 0)
    comments.push_back(fmt::format("counts may be up to {} too low", words.undercount()));
  const std::string text = IdfTableText(words.documents(), frequent, comments);
  if (const auto table = IdfTable::Parse(text); !table) return ExitWith(table.error());
  if (auto written = Write(options.out, text); !written) return ExitWith(written.error());
  if (options.json) {
    const nlohmann::ordered_json result = {{"documents", words.documents()},
                                           {"words", frequent.size()},
                                           {"items", counts->items},
                                           {"deleted", deleted},
                                           {"skipped", counts->skipped},
                                           {"undercount", words.undercount()},
                                           {"bytes", text.size()}};
    fmt::print("{}\n", result.dump());
  } else if (!options.quiet) {
    fmt::print(stderr, "{} words of {} documents{}\n", WithThousands(frequent.size()),
               WithThousands(words.documents()),
               words.undercount() > 0
                   ? fmt::format("; more words came than idf keeps: counts may be up to {} too low",
                                 WithThousands(words.undercount()))
                   : "");
  }
  return kExitOk;
}

void AddOptions(CLI::App& app, IdfOptions& options) {
  options.items.AddTo(app);
  app.add_option("files", options.files,
                 "files of items, JSON lines, also .gz; - is standard input; none: the topic");
  app.add_option("--words-max", options.words_max, "keep so many words, the most frequent ones")
      ->capture_default_str();
  app.add_option("--documents-min", options.documents_min, "leave out words of fewer items")
      ->capture_default_str();
  app.add_option("--out", options.out, "write the table to this file instead of standard output");
  app.add_flag("--json", options.json, "print the counts as JSON (with --out)");
  app.add_flag("--quiet", options.quiet, "no progress");
}

}  // namespace
}  // namespace seen

int main(int argc, char** argv) {
  CLI::App app("makes a table of word counts from items, for items.idf_file", "seen_idf");
  seen::IdfOptions options;
  seen::AddOptions(app, options);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? seen::kExitOk : seen::kExitUsage;
  }
  return seen::RunIdf(options);
}
