// similar: why two items are similar or not, or which items of a running daemon are similar to a text.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstring>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/ask/daemon_client.h"
#include "tools/ask/group_report.h"
#include "tools/check/similar_pair.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/load/items_options.h"
#include "tools/whole_file.h"

namespace seen {
namespace {

struct SimilarOptions {
  ItemsTopicOptions items;
  DaemonAddress http;
  std::vector<std::string> pair;  // ids, or @FILE
  std::string title, text, lang, file, item_id;
  size_t limit = 10;
  size_t tokens = 10;
  bool json = false;
  bool quiet = false;
};

PairItem ItemOf(const ItemEvent& event, TimeMs record_timestamp) {
  return {.item_id = std::string(event.item_id),
          .title = std::string(event.title),
          .text = std::string(event.text),
          .lang = std::string(event.lang),
          .created_at = event.created_at.value_or(record_timestamp)};
}

Result<PairItem> ReadItemFile(const std::string& path, const ItemFormat& format) {
  const auto json = ReadWhole(path);
  if (!json) return Fail(json.error());
  ItemDecoder decoder(format, kItemBytesMax);
  const auto event = decoder.Decode(*json);
  if (!event) return Fail(Code::kInvalidArgument, fmt::format("{}: {}", path, event.error().message));
  return ItemOf(*event, SystemClock().WallNow());
}

/// The last record of each of `ids` in the topic.
class LastRecords {
 public:
  explicit LastRecords(std::span<const std::string> ids) {
    for (const std::string& id : ids) last_.emplace(id, std::nullopt);
  }
  void Take(const ItemEvent& event, TimeMs record_timestamp) {
    const auto wanted = last_.find(event.item_id);
    if (wanted == last_.end()) return;
    auto& last = wanted->second;
    // Records of one id may be in several partitions: the latest timestamp decides.
    if (last && record_timestamp < last->at) return;
    last = {record_timestamp, event.deleted, ItemOf(event, record_timestamp)};
  }
  Result<PairItem> Find(const std::string& id, const std::string& topic, uint64_t items) const {
    const auto& last = last_.find(id)->second;
    if (!last) {
      return Fail(Code::kNotFound, fmt::format("{}: not among the {} items of topic {}; @FILE takes an item "
                                               "from a file",
                                               id, WithThousands(items), topic));
    }
    if (last->deleted)
      return Fail(Code::kNotFound, fmt::format("{}: its last record in topic {} deletes it", id, topic));
    return last->item;
  }

 private:
  struct Last {
    TimeMs at;
    bool deleted = false;
    PairItem item;
  };
  std::map<std::string, std::optional<Last>, std::less<>> last_;
};

Result<std::array<PairItem, 2>> FindPair(const SimilarOptions& options,
                                         const ItemsTopicOptions::Outcome& read) {
  std::vector<std::string> ids;
  for (const std::string& name : options.pair) {
    if (!name.starts_with('@')) ids.push_back(name);
  }
  LastRecords last(ids);
  uint64_t items = 0;
  if (!ids.empty()) {
    const auto counts = ReadItems(
        read.places, read.items.format, options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto,
        "similar", [&](const ItemEvent& event, TimeMs timestamp) { last.Take(event, timestamp); });
    if (!counts) return Fail(counts.error());
    items = counts->items;
  }
  std::array<PairItem, 2> pair;
  for (size_t i = 0; i < 2; ++i) {
    const std::string& name = options.pair[i];
    auto item = name.starts_with('@') ? ReadItemFile(name.substr(1), read.items.format)
                                      : last.Find(name, read.places.topic, items);
    if (!item) return Fail(item.error());
    pair[i] = std::move(*item);
  }
  return pair;
}

int RunPair(const SimilarOptions& options) {
  const auto read = options.items.Read();
  if (!read) return ExitWith(read.error());
  const auto idf = ReadIdfFile(read->items.idf_file);
  if (!idf) return ExitWith(idf.error());
  CatchInterrupts();
  const auto pair = FindPair(options, *read);
  if (!pair) return ExitWith(pair.error());
  FeatureReader reader({.idf = idf->table,
                        .similarity_min = read->items.similarity_min,
                        .text_bytes_max = read->items.text_bytes_max,
                        .rules = TextRulesOf(read->items)});
  const auto compared = ComparePair((*pair)[0], (*pair)[1], GroupOptionsOf(read->items), reader);
  fmt::print("{}", options.json
                       ? compared.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                       : PairText(compared, options.tokens));
  return kExitOk;
}

int RunQuestion(const SimilarOptions& options) {
  nlohmann::json question = {{"limit", options.limit}};
  std::string text = options.text;
  if (!options.file.empty()) {
    auto whole = ReadWhole(options.file);
    if (!whole) return ExitWith(whole.error());
    text = std::move(*whole);
  }
  if (!options.title.empty()) question["title"] = options.title;
  if (!text.empty()) question["text"] = text;
  if (!options.lang.empty()) question["lang"] = options.lang;
  if (!options.item_id.empty()) question["item_id"] = options.item_id;
  auto daemon = DaemonClient::Make(options.http);
  if (!daemon) return ExitWith(daemon.error());
  const auto answer = daemon->Similar(question);
  if (!answer) return ExitWith(answer.error());
  try {
    fmt::print("{}", options.json ? answer->dump(2) + "\n" : SimilarItemsText(*answer));
  } catch (const nlohmann::json::exception& error) {
    return ExitWith({Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what())});
  }
  return kExitOk;
}

int RunSimilar(const SimilarOptions& options) {
  const bool asks = !options.title.empty() || !options.text.empty() || !options.file.empty();
  if (asks == !options.pair.empty() || (!asks && options.pair.size() != 2)) {
    return ExitWith(
        {Code::kInvalidArgument,
         "similar: give two items (ids or @FILE), or the words of one item: --title, --text or --file"});
  }
  if (!options.text.empty() && !options.file.empty())
    return ExitWith({Code::kInvalidArgument, "--file: --text is given as well; leave one of them out"});
  if (options.limit < 1 || options.limit > 100) {
    return ExitWith({Code::kInvalidArgument, fmt::format("--limit: {} is outside 1 to 100", options.limit)});
  }
  return asks ? RunQuestion(options) : RunPair(options);
}

}  // namespace

Subcommand AddSimilar(CLI::App& root) {
  auto options = std::make_shared<SimilarOptions>();
  CLI::App* app = root.add_subcommand("similar", "why two items are alike, or what is like a text");
  options->items.AddTo(*app);
  app->add_option("items", options->pair, "two item ids, or @FILE with an item as JSON")->expected(0, 2);
  app->add_option("--tokens", options->tokens, "show so many of the heaviest tokens")->capture_default_str();
  app->add_option("--title", options->title, "ask the daemon for stored items that are like this title");
  app->add_option("--text", options->text, "and this text");
  app->add_option("--file", options->file, "the text from a file; - is standard input");
  app->add_option("--lang", options->lang, "and of this language, such as zh");
  app->add_option("--item", options->item_id, "leave this id out of the answer, such as the item's own");
  app->add_option("--limit", options->limit, "answer with so many items at most")->capture_default_str();
  AddDaemonOptions(*app, options->http);
  app->add_flag("--json", options->json, "answer as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunSimilar(*options); }};
}

}  // namespace seen
