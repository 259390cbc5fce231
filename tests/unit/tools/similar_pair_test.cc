#include "tools/check/similar_pair.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>

#include "model/day.h"
#include "tools/history/line_reader.h"

namespace seen {
namespace {

constexpr TimeMs kAt{1'763'700'000'000};

FeatureReader Reader() { return FeatureReader({.idf = IdfTable::Bundled()}); }

PairItem Item(std::string id, std::string text, TimeMs created_at = kAt) {
  return {
      .item_id = std::move(id), .title = "", .text = std::move(text), .lang = "en", .created_at = created_at};
}

/// `count` different words, from word number `first` on.
std::string Words(int first = 0, int count = 60) {
  std::string text;
  for (int i = first; i < first + count; ++i)
    text += std::string(text.empty() ? "" : " ") + "q" + std::string(1, static_cast<char>('a' + i / 26)) +
            std::string(1, static_cast<char>('a' + i % 26));
  return text;
}

OrderedJson Compare(const PairItem& a, const PairItem& b, const GroupOptions& rules = {}) {
  FeatureReader reader = Reader();
  return ComparePair(a, b, rules, reader);
}

TEST(SimilarPair, SaysHowAPairIsAlikeOrWhyItIsNot) {
  GroupOptions simhash_only, minhash_only;
  simhash_only.method = SimilarMethod::kSimHash;
  minhash_only.method = SimilarMethod::kMinHash;
  const PairItem text = Item("a", Words());
  const PairItem near = Item("b", Words() + " extra");
  const PairItem other = Item("c", Words(100));
  const PairItem late = Item("e", Words() + " extra", {kAt.value + 31 * kMsPerDay});
  const struct {
    const PairItem& a;
    const PairItem& b;
    const GroupOptions rules;
    bool alike;
    const char* because;
  } cases[] = {
      {text, Item("b", "<p>" + Words() + "!</p>"), {}, true, "copy"},
      {text, Item("b", "<p>" + Words() + "!</p>"), simhash_only, true, "copy"},
      {text, near, minhash_only, true, "minhash"},
      {text, other, {}, false, "no_candidate"},
      {text, other, simhash_only, false, "no_candidate"},
      {text, late, {}, false, "window"},
      {text, Item("b", "!?"), {}, false, "no_text"},
      {Item("a", ""), Item("b", ""), {}, false, "no_text"},
  };
  for (const auto& c : cases) {
    for (const bool swapped : {false, true}) {
      const OrderedJson pair = swapped ? Compare(c.b, c.a, c.rules) : Compare(c.a, c.b, c.rules);
      EXPECT_EQ(pair.at("alike"), c.alike) << pair.dump();
      EXPECT_EQ(pair.at("because"), c.because) << pair.dump();
    }
  }
  GroupOptions strict;
  strict.similarity_min = 0.99;
  EXPECT_EQ(Compare(text, near, strict).at("because"), "sketch");
  strict.verify = false;
  EXPECT_EQ(Compare(text, near, strict).at("alike"), true);
}

TEST(SimilarPair, SaysThatOneTextContainsTheOther) {
  const PairItem text = Item("a", Words(0, 100)), longer = Item("b", Words(0, 160));
  GroupOptions rules;
  EXPECT_EQ(Compare(text, longer, rules).at("alike"), false);
  rules.containment_min = 0.9;
  for (const bool swapped : {false, true}) {
    const OrderedJson pair = swapped ? Compare(longer, text, rules) : Compare(text, longer, rules);
    EXPECT_EQ(pair.at("alike"), true) << pair.dump();
    EXPECT_EQ(pair.at("because"), "containment");
    EXPECT_EQ(pair.at("containment").at("contained"), 1.0);
    EXPECT_EQ(pair.at("containment").at("used"), true);
    EXPECT_NEAR(pair.at("sketch").at("similarity").get<double>(), 98.0 / 158, 0.01);
    EXPECT_NE(PairText(pair, 5).find("containment        1.0000 of the shorter text; from 0.90 on alike\n"),
              std::string::npos)
        << PairText(pair, 5);
  }
}

TEST(SimilarPair, MeasuresWhatDecides) {
  const OrderedJson pair = Compare(Item("a", Words()), Item("b", Words() + " extra words"));
  // Both texts have the same 58 runs of three words. The second text has two more.
  EXPECT_EQ(pair.at("jaccard").at("in_common"), 58);
  EXPECT_EQ(pair.at("jaccard").at("of"), 60);
  EXPECT_EQ(pair.at("jaccard").at("similarity"), 0.9667);
  EXPECT_NEAR(pair.at("sketch").at("similarity").get<double>(), 0.9667, 0.01) << "whole sets, so it is exact";
  EXPECT_EQ(pair.at("a").at("words"), 60);
  EXPECT_EQ(pair.at("a").at("length"), "long");
  EXPECT_EQ(pair.at("bands").at("of"), kBands);
  EXPECT_EQ(pair.at("tokens").at("common").size(), 60u);
  EXPECT_EQ(pair.at("tokens").at("a_only").size(), 0u);
  ASSERT_EQ(pair.at("tokens").at("b_only").size(), 2u);
  EXPECT_FALSE(pair.at("tokens").at("b_only")[0].contains("a"));
  EXPECT_GT(pair.at("tokens").at("b_only")[0].at("b").get<double>(), 0);
}

TEST(SimilarPair, ComparesNoSimHashesOfLongAndShortTexts) {
  const OrderedJson pair = Compare(Item("a", Words(0, 29)), Item("b", Words(0, 31)));
  EXPECT_EQ(pair.at("a").at("length"), "short");
  EXPECT_EQ(pair.at("b").at("length"), "long");
  EXPECT_EQ(pair.at("simhash").at("distance_max"), -1);
  EXPECT_NE(pair.at("because"), "both");
}

TEST(SimilarPair, IsReadByAPerson) {
  FeatureReader reader = Reader();
  const std::string text = PairText(Compare(Item("a", Words()), Item("b", Words() + " extra words")), 3);
  for (const char* part : {"alike: a candidate, and the sketches say 0.97, at least similarity_min 0.80\n",
                           "  a  \"\"  60 words, long and alphabetic, lang en, of 2025-11-21T04:40:00.000Z\n",
                           "  the same text      no\n", "  exact Jaccard      0.9667: 58 of 60 shingles\n",
                           "  rules of texts     version 5; an index keeps those that it was built with\n",
                           "  tokens in both: 60, weight ", "    and 57 more\n",
                           "  only in the first: 0, weight 0.0\n", "  only in the second: 2, weight "})
    EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
}

TEST(SimilarPair, NamesTheNumbersThatDiffer) {
  const auto why = [](std::string_view a, std::string_view b) -> std::string {
    return Compare(Item("a", Words() + std::string(a)), Item("b", Words() + std::string(b))).at("why");
  };
  EXPECT_EQ(why(" 1.5 and 7", " 7"), "their numbers differ: 1.5 in the first, none in the second");
  EXPECT_EQ(why(" 3:1", " 1:3"), "their numbers have another order: 3, 1 in the first, 1, 3 in the second");
}

TEST(SimilarPair, FindsTheCopiesAmongTheItemsOfTheExample) {
  FeatureReader reader = Reader();
  std::map<std::string, PairItem> items;
  auto lines = LineReader::Open(SEEN_SOURCE_DIR "/examples/items.jsonl.gz");
  ASSERT_TRUE(lines);
  std::string_view line;
  std::string before;
  int copies = 0;
  while (*lines->Next(line)) {
    const auto json = OrderedJson::parse(line);
    const std::string id = json.at("item_id");
    const PairItem& item =
        items.emplace(id, PairItem{id, json.at("title"), json.at("text"), json.at("lang"), kAt})
            .first->second;
    if (const std::string original = json.value("copy_of", ""); !original.empty()) {
      ++copies;
      const OrderedJson pair = ComparePair(items.at(original), item, {}, reader);
      EXPECT_TRUE(pair.at("alike")) << id << " of " << original << ": " << pair.at("why");
      if (json.at("edit") == "verbatim") {
        EXPECT_EQ(pair.at("because"), "copy") << id;
      }
    } else if (!before.empty()) {
      const OrderedJson pair = ComparePair(item, items.at(before), {}, reader);
      EXPECT_FALSE(pair.at("alike")) << id << ": " << pair.at("why");
    }
    before = id;
  }
  EXPECT_GT(copies, 15);
}

}  // namespace
}  // namespace seen
