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

class TextsFlow : public testing::Test {
 protected:
  explicit TextsFlow(const TextRules& rules = {})
      : reader_(FeatureOptions{.idf = IdfTable::Bundled(), .rules = rules}) {}

  static std::unique_ptr<GroupFlow> Open(ItemIndex& index, GroupSink& sink) {
    auto flow = GroupFlow::Open({.method = SimilarMethod::kMinHash}, index, sink);
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
