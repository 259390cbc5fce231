#include "tools/check/similar_pair.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "base/text.h"
#include "model/day.h"
#include "similar/groups/group_rules.h"
#include "tools/commands.h"
#include "tools/progress.h"
#include "tools/read_files.h"

namespace seen {

namespace {

struct PairSide {
  const PairItem& item;
  ItemText text;
  ItemFeatures features;
  std::string compared;  // the text as it is compared
  std::vector<uint64_t> shingles;
  std::vector<std::string> numbers;  // in text order
  std::vector<WeighedToken> tokens;
};

PairSide ReadItem(const PairItem& item, FeatureReader& reader) {
  PairSide read{item, {item.title, item.text, item.lang}, {}, {}, {}, {}, {}};
  reader.Read(read.text, read.features);
  read.compared = reader.Normalised(read.text);
  read.numbers = reader.NumbersOf(read.text);
  read.shingles = reader.Shingles(read.text);
  read.tokens = reader.Explain(read.text);
  return read;
}

double Rounded(double value) { return std::round(value * 1e4) / 1e4; }
std::string Hex(uint64_t value) { return fmt::format("{:016x}", value); }

std::string_view LengthName(LengthClass length) {
  constexpr std::string_view kNames[] = {"empty", "short", "long", "too_short"};
  return kNames[static_cast<size_t>(length)];
}

OrderedJson About(const PairSide& read) {
  return {{"item_id", read.item.item_id},
          {"title", read.item.title},
          {"lang", read.item.lang},
          {"created_at", read.item.created_at.value},
          {"words", read.features.words},
          {"length", LengthName(read.features.length)},
          {"script", read.features.script == ScriptClass::kAlphabetic ? "alphabetic" : "dictionary"},
          {"shingles", read.shingles.size()},
          {"numbers", read.numbers},
          {"cut", read.features.cut},
          {"compared_text", read.compared}};
}

struct Measured {
  std::optional<Match> match;  // the daemon's decision, without the window
  bool copy = false;
  int distance = 0;
  int distance_max = 0;
  size_t bands_in_common = 0;
  double sketch_similarity = 0;
  double containment = 0;  // by the sketches
  double jaccard = 0;
  size_t shingles_in_common = 0;
  size_t shingles_of_either = 0;
};

Measured Measure(const PairSide& a, const PairSide& b, const GroupRules& rules) {
  Measured measured;
  const ItemFeatures& left = a.features;
  const ItemFeatures& right = b.features;
  measured.copy = left.content_hash == right.content_hash;
  measured.distance = std::popcount(left.simhash ^ right.simhash);
  // Each class has its own lists of SimHashes.
  const bool same_class = left.length == right.length && left.script == right.script;
  measured.distance_max = same_class ? rules.DistanceMax(left) : -1;
  measured.match = rules.Compare(left, right);
  for (size_t i = 0; i < kBands; ++i) {
    if (KeptBand(left.bands[i]) == KeptBand(right.bands[i])) ++measured.bands_in_common;
  }
  measured.sketch_similarity = SketchSimilarity(left.sketch, right.sketch);
  if (const auto contained = ContainmentOf(left.sketch, right.sketch))
    measured.containment = contained->contained;
  std::vector<uint64_t> common;
  std::set_intersection(a.shingles.begin(), a.shingles.end(), b.shingles.begin(), b.shingles.end(),
                        std::back_inserter(common));
  measured.shingles_in_common = common.size();
  measured.shingles_of_either = a.shingles.size() + b.shingles.size() - common.size();
  if (measured.shingles_of_either > 0) {
    measured.jaccard = static_cast<double>(common.size()) / static_cast<double>(measured.shingles_of_either);
  }
  return measured;
}

struct Verdict {
  bool alike = false;
  // "copy", "simhash", "minhash", "both", "containment"; "no_text", "placeholder", "window", "too_short",
  // "numbers", "no_candidate", "sketch"
  std::string because;
  std::string why;
};

// The numbers of `a` that `b` doesn't have, in text order: "1, 2 and 3 more".
std::string NumbersOnlyIn(const std::vector<std::string>& a, const std::vector<std::string>& b) {
  constexpr size_t kShownMax = 5;
  std::map<std::string_view, size_t> of_b;
  for (const std::string& number : b) ++of_b[number];
  std::string shown;
  size_t count = 0;
  for (const std::string& number : a) {
    if (const auto found = of_b.find(number); found != of_b.end() && found->second > 0) {
      --found->second;
    } else if (++count <= kShownMax) {
      shown += fmt::format("{}{}", shown.empty() ? "" : ", ", number);
    }
  }
  if (count > kShownMax) shown += fmt::format(" and {} more", count - kShownMax);
  return shown.empty() ? "none" : shown;
}

std::string HowNumbersDiffer(const PairSide& a, const PairSide& b) {
  const std::string only_a = NumbersOnlyIn(a.numbers, b.numbers);
  const std::string only_b = NumbersOnlyIn(b.numbers, a.numbers);
  if (only_a != only_b)
    return fmt::format("their numbers differ: {} in the first, {} in the second", only_a, only_b);
  return fmt::format("their numbers have another order: {} in the first, {} in the second",
                     NumbersOnlyIn(a.numbers, {}), NumbersOnlyIn(b.numbers, {}));
}

OrderedJson About(const TextRules& rules) {
  return {{"version", rules.version},
          {"folding_version", rules.folding_version},
          {"segmentation", SegmentationName(rules.segmentation)},
          {"numbers", NumbersName(rules.numbers)},
          {"tokens_min", rules.tokens_min}};
}

Verdict Decide(const PairSide& a, const PairSide& b, const Measured& m, const GroupOptions& rules) {
  for (const PairSide* read : {&a, &b}) {
    if (read->features.length != LengthClass::kEmpty) continue;
    if (read->features.words == 0)
      return {false, "no_text", fmt::format("{} has no word: nothing is like it", read->item.item_id)};
    return {false, "placeholder",
            fmt::format("the text of {} stands for a missing text: nothing is like it", read->item.item_id)};
  }
  const double days = static_cast<double>(std::abs(a.item.created_at.value - b.item.created_at.value)) /
                      static_cast<double>(kMsPerDay);
  if (days > rules.window_days) {
    return {false, "window",
            fmt::format("they are {:.1f} days apart: the older one had left the window of {} days and wasn't "
                        "compared",
                        days, rules.window_days)};
  }
  if (m.match) {
    const std::string because(FoundByName(m.match->found));
    if (m.copy) return {true, because, "the same text after normalisation: a verbatim copy"};
    if (!rules.verify) return {true, because, "a candidate, and verify is off"};
    if (m.match->containment) {
      return {true, "containment",
              fmt::format("the longer text has {:.2f} of the shorter one, at least containment_min {:.2f}",
                          m.containment, rules.containment_min)};
    }
    return {true, because,
            fmt::format("a candidate, and the sketches say {:.2f}, at least similarity_min {:.2f}",
                        m.sketch_similarity, rules.similarity_min)};
  }
  for (const PairSide* read : {&a, &b}) {
    if (read->features.length != LengthClass::kTooShort) continue;
    return {false, "too_short",
            fmt::format("{} has fewer different words than tokens_min: only an equal text is like it",
                        read->item.item_id)};
  }
  if (NumbersDiffer(a.features.numbers, b.features.numbers)) {
    return {false, "numbers", HowNumbersDiffer(a, b)};
  }
  const bool by_simhash = UsesSimHash(rules.method) && m.distance <= m.distance_max;
  const bool by_minhash = UsesMinHash(rules.method) && m.bands_in_common > 0;
  if (by_simhash || by_minhash) {
    return {false, "sketch",
            fmt::format("a candidate, but the sketches say {:.2f}, less than similarity_min {:.2f}",
                        m.sketch_similarity, rules.similarity_min)};
  }
  std::string missed;
  if (UsesSimHash(rules.method)) {
    missed = m.distance_max < 0
                 ? std::string("SimHashes aren't compared between long and short texts, or scripts")
                 : fmt::format("{} bits apart, of {} allowed", m.distance, m.distance_max);
  }
  if (UsesMinHash(rules.method)) missed += fmt::format("{}no band in common", missed.empty() ? "" : ", and ");
  const bool unlucky = m.jaccard >= rules.similarity_min;
  return {false, "no_candidate",
          fmt::format(
              "neither found the other: {}{}", missed,
              unlucky ? fmt::format("; their Jaccard similarity of {:.2f} would be enough: a miss", m.jaccard)
                      : "")};
}

double WeightOf(const OrderedJson& token) { return token.value("a", 0.0) + token.value("b", 0.0); }

OrderedJson Tokens(const PairSide& a, const PairSide& b) {
  std::map<std::string_view, OrderedJson> by_token;
  for (const auto& [side, tokens] : {std::pair{"a", &a.tokens}, std::pair{"b", &b.tokens}}) {
    for (const WeighedToken& token : *tokens) {
      OrderedJson& entry = by_token[token.token];
      entry["token"] = token.token;
      entry[side] = Rounded(token.weight);
    }
  }
  OrderedJson lists;
  for (const char* list : {"common", "a_only", "b_only"}) lists[list] = OrderedJson::array();
  for (auto& [token, entry] : by_token) {
    const char* const list = !entry.contains("b") ? "a_only" : !entry.contains("a") ? "b_only" : "common";
    lists[list].push_back(std::move(entry));
  }
  for (OrderedJson& list : lists) {
    std::stable_sort(list.begin(), list.end(),
                     [](const OrderedJson& x, const OrderedJson& y) { return WeightOf(x) > WeightOf(y); });
  }
  return lists;
}

// Makes a token or title fit on one line of a terminal.
std::string Shown(const std::string& text, size_t bytes_max) {
  std::string shown;
  for (const char c : text) shown += static_cast<unsigned char>(c) < ' ' || c == 0x7f ? ' ' : c;
  if (shown.size() <= bytes_max) return shown;
  size_t end = bytes_max;
  while (end > 0 && (static_cast<unsigned char>(shown[end]) & 0xc0) == 0x80) --end;
  return shown.substr(0, end) + "…";
}

std::string ItemLine(const OrderedJson& item) {
  const auto lang = item.at("lang").get<std::string>();
  return fmt::format("  {}  \"{}\"  {} words, {} and {}{}, of {}{}\n", Shown(item.at("item_id"), 64),
                     Shown(item.at("title"), 60), item.at("words").get<uint64_t>(),
                     item.at("length").get<std::string>(), item.at("script").get<std::string>(),
                     lang.empty() ? "" : ", lang " + Shown(lang, 16),
                     TimeText({item.at("created_at").get<int64_t>()}),
                     item.at("cut").get<bool>() ? ", cut at text_bytes_max" : "") +
         fmt::format("    compared as \"{}\"\n", Shown(item.at("compared_text"), 200));
}

std::string TokenLines(std::string_view heading, const OrderedJson& tokens, size_t tokens_max) {
  double weight = 0;
  for (const OrderedJson& token : tokens)
    weight += WeightOf(token) / (token.contains("a") && token.contains("b") ? 2 : 1);
  std::string text = fmt::format("  {}: {}, weight {:.1f}\n", heading, tokens.size(), weight);
  for (size_t i = 0; i < std::min(tokens.size(), tokens_max); ++i) {
    const OrderedJson& token = tokens[i];
    const double a = token.value("a", 0.0), b = token.value("b", 0.0);
    const bool both = token.contains("a") && token.contains("b");
    text += fmt::format("    {:>7.2f}  {}{}\n", both ? a : a + b, Shown(token.at("token"), 64),
                        both && a != b ? fmt::format("  ({:.2f} in the second)", b) : "");
  }
  if (tokens.size() > tokens_max) text += fmt::format("    and {} more\n", tokens.size() - tokens_max);
  return text;
}

}  // namespace

OrderedJson ComparePair(const PairItem& a, const PairItem& b, const GroupOptions& rules,
                        FeatureReader& reader) {
  const PairSide left = ReadItem(a, reader);
  const PairSide right = ReadItem(b, reader);
  const Measured m = Measure(left, right, GroupRules(rules));
  const Verdict verdict = Decide(left, right, m, rules);
  return {{"a", About(left)},
          {"b", About(right)},
          {"alike", verdict.alike},
          {"because", verdict.because},
          {"why", verdict.why},
          {"copy", m.copy},
          {"simhash",
           {{"a", Hex(left.features.simhash)},
            {"b", Hex(right.features.simhash)},
            {"distance", m.distance},
            {"distance_max", m.distance_max},
            {"used", UsesSimHash(rules.method)}}},
          {"bands",
           {{"in_common", m.bands_in_common},
            {"of", kBands},
            {"rows", BandRows(rules.similarity_min)},
            {"used", UsesMinHash(rules.method)}}},
          {"sketch",
           {{"similarity", Rounded(m.sketch_similarity)},
            {"similarity_min", rules.similarity_min},
            {"used", rules.verify}}},
          {"containment",
           {{"contained", Rounded(m.containment)},
            {"containment_min", rules.containment_min},
            {"used", rules.containment_min > 0 && rules.verify && UsesMinHash(rules.method)}}},
          {"jaccard",
           {{"similarity", Rounded(m.jaccard)},
            {"in_common", m.shingles_in_common},
            {"of", m.shingles_of_either}}},
          {"rules", About(reader.rules())},
          {"tokens", Tokens(left, right)}};
}

std::string PairText(const OrderedJson& pair, size_t tokens_max) {
  const auto used = [](const OrderedJson& part) { return part.at("used").get<bool>() ? "" : " (not used)"; };
  const OrderedJson& simhash = pair.at("simhash");
  const OrderedJson& bands = pair.at("bands");
  const OrderedJson& sketch = pair.at("sketch");
  const OrderedJson& containment = pair.at("containment");
  const OrderedJson& jaccard = pair.at("jaccard");
  const int distance_max = simhash.at("distance_max").get<int>();
  std::string text = fmt::format("{}: {}\n", pair.at("alike").get<bool>() ? "alike" : "not alike",
                                 pair.at("why").get<std::string>());
  text += ItemLine(pair.at("a")) + ItemLine(pair.at("b"));
  text += fmt::format("  the same text      {}\n", pair.at("copy").get<bool>() ? "yes" : "no");
  text +=
      fmt::format("  SimHash            {} of 64 bits differ; {}{}\n", simhash.at("distance").get<int>(),
                  distance_max < 0 ? "not compared between long and short texts, or scripts"
                                   : fmt::format("up to {} are allowed for texts like these", distance_max),
                  used(simhash));
  text += fmt::format("  MinHash            {} of {} bands in common{}\n",
                      bands.at("in_common").get<uint64_t>(), bands.at("of").get<uint64_t>(), used(bands));
  text += fmt::format("  sketch similarity  {:.4f}; from {:.2f} on alike{}\n",
                      sketch.at("similarity").get<double>(), sketch.at("similarity_min").get<double>(),
                      used(sketch));
  text += fmt::format("  containment        {:.4f} of the shorter text; from {:.2f} on alike{}\n",
                      containment.at("contained").get<double>(),
                      containment.at("containment_min").get<double>(), used(containment));
  text +=
      fmt::format("  exact Jaccard      {:.4f}: {} of {} shingles\n", jaccard.at("similarity").get<double>(),
                  jaccard.at("in_common").get<uint64_t>(), jaccard.at("of").get<uint64_t>());
  text += fmt::format("  rules of texts     version {}; an index keeps those that it was built with\n",
                      pair.at("rules").at("version").get<uint32_t>());
  const OrderedJson& tokens = pair.at("tokens");
  text += TokenLines("tokens in both", tokens.at("common"), tokens_max);
  text += TokenLines("only in the first", tokens.at("a_only"), tokens_max);
  text += TokenLines("only in the second", tokens.at("b_only"), tokens_max);
  return text;
}

namespace {

PairItem PairItemOf(const ItemEvent& event, TimeMs record_timestamp) {
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
  return PairItemOf(*event, SystemClock().WallNow());
}

struct LastRecord {
  TimeMs at;
  bool deleted = false;
  PairItem item;
};
using LastRecords = std::map<std::string, std::optional<LastRecord>, std::less<>>;

/// Fills in the last record of each id.
Result<ItemCounts> FindLast(const ItemsTopicOptions::Outcome& places, LastRecords& last) {
  return ReadItems(places.topic, places.items.format, [&](const ItemEvent& event, TimeMs timestamp) {
    const auto wanted = last.find(event.item_id);
    // Records of one id may be in several partitions: the latest timestamp decides.
    if (wanted != last.end() && (!wanted->second || timestamp >= wanted->second->at))
      wanted->second = {timestamp, event.deleted, PairItemOf(event, timestamp)};
  });
}

Result<std::vector<PairItem>> FindPair(const PairQuestion& question,
                                       const ItemsTopicOptions::Outcome& places) {
  LastRecords last;
  for (const std::string& name : question.pair) {
    if (!name.starts_with('@')) last.emplace(name, std::nullopt);
  }
  const auto counts = last.empty() ? Result<ItemCounts>(ItemCounts()) : FindLast(places, last);
  if (!counts) return Fail(counts.error());
  std::vector<PairItem> pair;
  for (const std::string& name : question.pair) {
    if (name.starts_with('@')) {
      auto item = ReadItemFile(name.substr(1), places.items.format);
      if (!item) return Fail(item.error());
      pair.push_back(std::move(*item));
      continue;
    }
    const auto& found = last.find(name)->second;
    if (!found) {
      return Fail(Code::kNotFound, fmt::format("{}: not among the {} items of topic {}; @FILE takes an item "
                                               "from a file",
                                               name, WithThousands(counts->items), places.topic.topic));
    }
    if (found->deleted) {
      return Fail(Code::kNotFound,
                  fmt::format("{}: its last record in topic {} deletes it", name, places.topic.topic));
    }
    pair.push_back(found->item);
  }
  return pair;
}

}  // namespace

int RunPairQuestion(const PairQuestion& question, bool json, bool quiet) {
  auto read = question.items.Read();
  if (!read) return ExitWith(read.error());
  const auto idf = ReadIdfFile(read->items.idf_file);
  if (!idf) return ExitWith(idf.error());
  if (!quiet) read->topic.task = "similar";
  CatchInterrupts();
  const auto pair = FindPair(question, *read);
  if (!pair) return ExitWith(pair.error());
  FeatureReader reader({.idf = idf->table,
                        .similarity_min = read->items.similarity_min,
                        .text_bytes_max = read->items.text_bytes_max,
                        .rules = TextRulesOf(read->items)});
  const auto compared = ComparePair((*pair)[0], (*pair)[1], GroupOptionsOf(read->items), reader);
  fmt::print("{}", json ? JsonText(compared, 2) + "\n" : PrintableLines(PairText(compared, question.tokens)));
  return kExitOk;
}

}  // namespace seen
