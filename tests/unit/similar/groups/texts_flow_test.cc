// What becomes of real texts: GroupFlow with the features that FeatureReader reads.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "group_fixture.h"
#include "similar/groups/group_rules.h"
#include "similar/text/feature_reader.h"
#include "support/map_index.h"

namespace seen::test {
namespace {

constexpr TimeMs kAt{20'000 * kMsPerDay};

std::string Episode(std::string_view number) {
  return "In episode " + std::string(number) +
         " of our series the crew sails on along the coast, meets old friends in a small harbour, repairs "
         "the mast after a storm, and tells stories about the years before the war until the sun comes up.";
}

std::string Times(std::string_view word, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::string(word) + " ";
  return text;
}

constexpr std::string_view kArticle =
    "The city library opens longer from next Monday on. Its doors open at eight in the morning and close at "
    "ten in the evening, on weekends too. Readers who show a passport receive a card on the spot, and may "
    "take "
    "home ten books for thirty days. On the third floor there is a new quiet room with free internet and "
    "warm "
    "water. The director hopes that more young people come in, sit down and finish a whole book. Last year "
    "half a million visitors came, a quarter more than in the year before, and most of them stayed for "
    "longer "
    "than an hour. The council pays for six more librarians, and has promised to repair the roof in spring.";
constexpr std::string_view kComments =
    " Comments. Anna wrote on 3 May 2024: at last somebody thinks of those who work until late. Twelve "
    "readers "
    "like this. Bo answered: I would rather see the money in schools, because children need teachers first. "
    "Chen wrote: the old quiet room was too small for 40 people, and nobody could find a free chair there.";
constexpr std::string_view kAdvertisement =
    " Advertisement. Our shoes carry you through every winter: warm, dry and light, with soles made of "
    "natural "
    "rubber. Order before Friday and the second pair costs half as much. Free delivery to your door, and you "
    "may return them within a month if they do not fit.";
constexpr std::string_view kOtherArticle =
    "Farmers in the valley expect a poor harvest of apples after frost in two nights of April. Many trees "
    "had "
    "been in full flower when the cold air came over the pass. Some growers lit small fires between the "
    "rows, "
    "others sprayed water, which froze around the buds and kept them alive. The union asks the state for "
    "help. "
    "Prices in shops will not rise much, say traders, because the south has more fruit than it can sell.";
// More than half of an item's words.
constexpr std::string_view kFooter =
    " This message is meant for subscribers only. Copying it, in whole or in part, needs our permission in "
    "writing. We check all reports with care, but can't promise that they are free of mistakes, and accept "
    "no "
    "liability for decisions that are based on them. Prices are without tax. If you don't want to receive "
    "this "
    "letter any more, follow the link below or write to the editors. Your address is kept until then, and is "
    "never sold to others. The publisher is a member of the press council, whose rules we follow in all that "
    "we print. Complaints are answered within a week by the editor on duty, or by the readers' advocate.";

std::string Both(std::string_view a, std::string_view b) { return std::string(a) + std::string(b); }

class TextsFlow : public testing::Test {
 protected:
  explicit TextsFlow(const TextRules& rules = {})
      : reader_(FeatureOptions{.idf = IdfTable::Bundled(), .rules = rules}) {}

  static std::unique_ptr<GroupFlow> Open(ItemIndex& index, GroupSink& sink) {
    auto flow = GroupFlow::Open(
        {.method = SimilarMethod::kMinHash, .containment_min = kDefaultContainmentMin}, index, sink);
    EXPECT_TRUE(flow) << flow.error().message;
    return std::move(*flow);
  }
  ItemFeatures FeaturesOf(std::string_view text) {
    ItemFeatures features;
    reader_.Read({.text = text}, features);
    return features;
  }
  const ItemGroup& Take(const std::string& id, std::string_view text) {
    const GivenItem item{id, kAt, false, FeaturesOf(text)};
    const PreparedItem prepared = Prepared(item, offset_++);
    EXPECT_TRUE(flow_->Apply({&prepared, 1}));
    return sink_.topic.at(id);
  }
  size_t CountSimilar(std::string_view text) { return flow_->Similar(FeaturesOf(text), 100, "")->size(); }
  size_t CountGrouped() const {
    return static_cast<size_t>(
        std::ranges::count_if(sink_.topic, [](const auto& one) { return one.second.group_id != one.first; }));
  }

 private:
  FeatureReader reader_;
  MapIndex index_;
  MapSink sink_;
  std::unique_ptr<GroupFlow> flow_ = Open(index_, sink_);
  int64_t offset_ = 0;
};

class TextsFlowWithoutNumbers : public TextsFlow {
 protected:
  TextsFlowWithoutNumbers() : TextsFlow({.numbers = Numbers::kIgnored}) {}
};

TEST_F(TextsFlow, LeavesTheEpisodesOfASeriesAlone) {
  for (int i = 1; i <= 60; ++i) Take("e" + std::to_string(i), Episode(fmt::format("{:02}", i)));
  EXPECT_EQ(CountGrouped(), 0u);
  EXPECT_EQ(CountSimilar(Episode("60")), 1u);
  EXPECT_EQ(CountSimilar(Episode("61")), 0u);
  // A repost of the newest, among sixty candidates with the same words.
  EXPECT_EQ(Take("r60", "Watch this. " + Episode("60")).group_id, "e60");
  EXPECT_EQ(Take("r7", Episode("7")).group_id, "e7") << "01 is 1";
}

TEST_F(TextsFlowWithoutNumbers, GroupTheEpisodesOfASeries) {
  for (int i = 1; i <= 60; ++i) Take("e" + std::to_string(i), Episode(fmt::format("{:02}", i)));
  EXPECT_EQ(CountGrouped(), 59u);
}

TEST_F(TextsFlow, GroupsShortTextsOnlyIfTheyAreEqual) {
  EXPECT_EQ(Take("a", "My holiday").found, FoundBy::kFirst);
  EXPECT_EQ(Take("b", "my holiday!").group_id, "a");
  EXPECT_EQ(Take("c", "我的假期").group_id, "c");
  EXPECT_EQ(Take("d", "我的假期。").group_id, "c");
  EXPECT_EQ(Take("t3", Times("test", 3)).group_id, "t3");
  EXPECT_EQ(Take("t10", Times("test", 10)).group_id, "t10") << "repetitions count";
  EXPECT_EQ(Take("t30", Times("test", 30)).group_id, "t30");
  EXPECT_EQ(CountSimilar(Times("test", 10)), 1u);
  EXPECT_EQ(CountSimilar(Times("test", 11)), 0u);
}

TEST_F(TextsFlow, GroupsNoPlaceholders) {
  int id = 0;
  for (const std::string_view text :
       {"Untitled", "转发微博", "Untitled", "轉發微博", "Untitled 😂", "转发微博 http://t.cn/A"})
    Take(std::to_string(++id), text);
  EXPECT_EQ(Take("a", "Untitled").found, FoundBy::kNoText);
  EXPECT_EQ(Take("b", "untitled.").found, FoundBy::kNoText);
  EXPECT_EQ(CountGrouped(), 0u);
  EXPECT_EQ(CountSimilar("Untitled"), 0u);
}

TEST_F(TextsFlow, GroupsARepostWithAdditions) {
  Take("article", kArticle);
  const ItemGroup commented = Take("commented", Both(kArticle, kComments));
  EXPECT_EQ(commented.group_id, "article");
  EXPECT_EQ(commented.found, FoundBy::kMinHash);
  EXPECT_LT(commented.similarity.value_or(1), 0.8);
  EXPECT_GT(commented.containment.value_or(0), 0.97);
  EXPECT_EQ(Take("advertised", Both(kArticle, kAdvertisement)).group_id, "article");
  const ItemGroup& article = Take("article", kArticle);
  ASSERT_EQ(article.near.size(), 2u);
  EXPECT_GT(article.near[0].similarity.value_or(0), article.near[1].similarity.value_or(1));
  for (const NearItem& near : article.near) EXPECT_GT(near.containment.value_or(0), 0.97) << near.item_id;
  EXPECT_EQ(Take("copied", Both(kArticle, kComments)).containment, commented.containment)
      << "as its original";
}

TEST_F(TextsFlow, GroupsAnArticleThatComesAfterItsRepost) {
  Take("commented", Both(kArticle, kComments));
  EXPECT_EQ(Take("article", kArticle).group_id, "commented");
}

TEST_F(TextsFlow, LeavesArticlesWithOneFooterAlone) {
  Take("a", Both(kArticle, kFooter));
  EXPECT_EQ(Take("b", Both(kOtherArticle, kFooter)).group_id, "b");
}

TEST_F(TextsFlow, LeavesAnExcerptInACompendiumAlone) {
  const std::string compendium = Both(kArticle, kOtherArticle) + Both(kFooter, kComments);
  Take("compendium", compendium);
  EXPECT_EQ(Take("article", kArticle).group_id, "article") << "too small a part of it";
  const std::string_view two_sentences = kArticle.substr(0, kArticle.find(" Readers"));
  EXPECT_EQ(Take("excerpt", two_sentences).group_id, "excerpt") << "too short to say";
}

TEST(TextRulesOfTwoTexts, ContainedTextsHaveTheNumbersOfTheShorterOne) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  const auto contained = [&](const std::string& a, const std::string& b, double containment_min = 0.9) {
    ItemFeatures of_a, of_b;
    reader.Read({.text = a}, of_a);
    reader.Read({.text = b}, of_b);
    const GroupRules rules({.containment_min = containment_min});
    const auto match = rules.Compare(of_a, of_b), back = rules.Compare(of_b, of_a);
    EXPECT_EQ(match.has_value(), back.has_value());
    return match && match->containment.has_value();
  };
  const std::string two = Both("Day 2. ", kArticle), three = Both("Day 3. ", kArticle), none(kArticle);
  EXPECT_TRUE(contained(two, two + std::string(kComments)));
  EXPECT_TRUE(contained(none, two + std::string(kComments)));
  EXPECT_FALSE(contained(two, three + std::string(kComments)));
  EXPECT_FALSE(contained(two, Both(kArticle, kComments)));
  EXPECT_FALSE(contained(none, two)) << "a number isn't an addition";
  EXPECT_FALSE(contained(two, two + std::string(kComments), 0)) << "off";
}

TEST(TextRulesOfTwoTexts, LookAtNumbersAndLength) {
  const auto found = [](std::string_view a, std::string_view b, const TextRules& text = {}) {
    FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = text});
    ItemFeatures of_a, of_b;
    reader.Read({.text = a}, of_a);
    reader.Read({.text = b}, of_b);
    const auto match = GroupRules(GroupOptions{.method = SimilarMethod::kBoth}).Compare(of_a, of_b);
    return match ? std::string(FoundByName(match->found)) : "";
  };
  EXPECT_EQ(found(Episode("01"), Episode("02")), "");
  EXPECT_NE(found(Episode("01"), Episode("1")), "");
  EXPECT_NE(found(Episode("1,000"), Episode("1000")), "");
  EXPECT_NE(found(Episode("one"), Episode("two")), "");
  EXPECT_EQ(found(Episode("01"), Episode("one")), "");
  EXPECT_NE(found(Episode("01"), Episode("02"), {.numbers = Numbers::kIgnored}), "");
  EXPECT_NE(found(Times("test", 30), Times("test", 100), {.tokens_min = 0}), "");
  EXPECT_EQ(found(Times("test", 30), Times("test", 100)), "");
}

}  // namespace
}  // namespace seen::test
