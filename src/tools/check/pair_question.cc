#include "tools/check/pair_question.h"

#include <fmt/format.h>

#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "tools/check/similar_pair.h"
#include "tools/commands.h"
#include "tools/whole_file.h"

namespace seen {
namespace {

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

Result<std::array<PairItem, 2>> FindPair(const PairQuestion& question,
                                         const ItemsTopicOptions::Outcome& read) {
  std::vector<std::string> ids;
  for (const std::string& name : question.pair) {
    if (!name.starts_with('@')) ids.push_back(name);
  }
  LastRecords last(ids);
  uint64_t items = 0;
  if (!ids.empty()) {
    const auto counts = ReadItems(
        read.places, read.items.format, question.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto,
        "similar", [&](const ItemEvent& event, TimeMs timestamp) { last.Take(event, timestamp); });
    if (!counts) return Fail(counts.error());
    items = counts->items;
  }
  std::array<PairItem, 2> pair;
  for (size_t i = 0; i < 2; ++i) {
    const std::string& name = question.pair[i];
    auto item = name.starts_with('@') ? ReadItemFile(name.substr(1), read.items.format)
                                      : last.Find(name, read.places.topic, items);
    if (!item) return Fail(item.error());
    pair[i] = std::move(*item);
  }
  return pair;
}

}  // namespace

int RunPairQuestion(const PairQuestion& question) {
  const auto read = question.items.Read();
  if (!read) return ExitWith(read.error());
  const auto idf = ReadIdfFile(read->items.idf_file);
  if (!idf) return ExitWith(idf.error());
  CatchInterrupts();
  const auto pair = FindPair(question, *read);
  if (!pair) return ExitWith(pair.error());
  FeatureReader reader({.idf = idf->table,
                        .similarity_min = read->items.similarity_min,
                        .text_bytes_max = read->items.text_bytes_max,
                        .rules = TextRulesOf(read->items)});
  const auto compared = ComparePair((*pair)[0], (*pair)[1], GroupOptionsOf(read->items), reader);
  fmt::print("{}", question.json
                       ? compared.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"
                       : PairText(compared, question.tokens));
  return kExitOk;
}

}  // namespace seen
