// Texts that differ in little, and texts that differ in nothing that counts.

#include <gtest/gtest.h>

#include <algorithm>

#include "similar/text/feature_reader.h"
#include "similar/text/placeholders.h"

namespace seen {
namespace {

struct Pair {
  std::string_view a, b;
};

class TextPairs : public testing::TestWithParam<Pair> {
 protected:
  /// `around`: words before and after, of which there are enough for near texts.
  ItemFeatures FeaturesOf(std::string_view text, bool around) {
    constexpr std::string_view kBefore =
        "Our series goes on along the coast, and the crew meets old friends. ";
    constexpr std::string_view kAfter =
        " They repair the mast after a storm in the small harbour, and tell stories about the years before "
        "the war until the sun comes up over the islands and all boats leave the bay again";
    ItemFeatures features;
    const std::string whole =
        around ? std::string(kBefore) + std::string(text) + std::string(kAfter) : std::string(text);
    reader_.Read({.text = whole}, features);
    return features;
  }

 private:
  FeatureReader reader_{FeatureOptions{.idf = IdfTable::Bundled()}};
};

class Different : public TextPairs {};
class OtherTexts : public TextPairs {};
class SameNumbers : public TextPairs {};
class Copies : public TextPairs {};

// Neither copies nor near.
TEST_P(Different, HaveOtherNumbers) {
  const auto [a, b] = GetParam();
  for (const bool around : {false, true}) {
    const ItemFeatures of_a = FeaturesOf(a, around), of_b = FeaturesOf(b, around);
    EXPECT_NE(of_a.content_hash, of_b.content_hash) << a << " | " << b;
    EXPECT_TRUE(NumbersDiffer(of_a.numbers, of_b.numbers)) << a << " | " << b;
    EXPECT_FALSE(NumbersFitAdditions(of_a.numbers, of_b.numbers, 0)) << a << " | " << b;
  }
}
constexpr Pair kDifferent[] = {
    {"episode 01", "episode 02"},
    {"model 14", "model 15"},
    // Their hashes have 16 bits in common.
    {"item 45", "item 474"},
    {"item 191", "item 973"},
    {"item 225", "item 512"},
    {"item 321", "item 650"},
    {"item 356", "item 760"},
    {"item 598", "item 780"},
    {"item 685", "item 775"},
    // Decimals.
    {"costs 1.05", "costs 1.5"},
    {"costs 0.05", "costs 0.5"},
    {"costs 1.5", "costs 1/5"},
    {"costs 2.5", "costs 2-5"},
    {"costs 2.5", "costs 25"},
    {"costs 1.250", "costs 1250"},
    {"costs 1.10", "costs 1.1"},
    {"costs 1,5", "costs 15"},
    {"costs .5", "costs 5"},
    {"costs $.50", "costs $50"},
    {"rises by -.5", "rises by -5"},
    {"rises by 0.5%", "rises by 5%"},
    {"version 1.2.3", "version 1.23"},
    {"version 1.2.3", "version 12.3"},
    {"host 10.0.0.1", "host 10.0.0.2"},
    {"增长１．５％", "增长１５％"},
    {"增长1.05%", "增长1.5%"},
    {"سعر ١٫٥", "سعر ١٥"},
    // Thousands.
    {"costs 1,000", "costs 1,001"},
    {"costs -100,000", "costs 100,000"},
    {"costs 1,00,000", "costs 1,00,001"},
    {"costs 1 000", "costs 2 000"},
    {"iPhone 12 128GB", "iPhone 12 256GB"},
    {"iPhone 12 128GB", "iPhone 12128GB"},
    {"rooms 101 102", "rooms 101102"},
    {"1,234.56 in all", "1,234.65 in all"},
    {"1.234,56 in all", "1.234,65 in all"},
    // The order of a few.
    {"S01E02", "S02E01"},
    {"won 3:1", "won 1:3"},
    {"Germany 3 Brazil 1", "Germany 1 Brazil 3"},
    {"from 5 to 7", "from 7 to 5"},
    {"第3季第1集", "第1季第3集"},
    // Dates.
    {"on 2026-11-30", "on 2026-11-29"},
    {"on 2026-11-30", "on 2026-03-11"},
    {"on 2026-11-30 08:30", "on 2026-11-30 09:30"},
    {"on 2026-11-30 08:30", "on 2026-11-30"},
    {"11月30日", "11月29日"},
    {"11月30日", "2026年11月30日"},
    // Minus.
    {"-$5 today", "$5 today"},
    {"$-5 today", "$5 today"},
    {"-€1.5 today", "€1.5 today"},
    {"-5°C today", "5°C today"},
    {"&minus;5°C today", "5°C today"},
    {"&amp;minus;$5 today", "$5 today"},
    {"气温-5度", "气温5度"},
    {"วัน -๕", "วัน ๕"},
    {"วัน ๑.๕", "วัน ๑๕"},
    // Chinese and signs.
    {"第十二集", "第十三集"},
    {"第 十二 集", "第 十三 集"},
    {"step ❶", "step ❷"},
    {"step ➓", "step ➊"},
    {"step ①②", "step 12"},
    {"step ⓬", "step ⓭"},
    // Repeats.
    {"7 and 7", "7"},
    {"最高气温30度，最低气温20度", "最高气温20度，最低气温30度"},
    {"第十二版", "第十三版"},
    {"see src/main.cc/3", "see src/main.cc/4"},
    {"see and/or 3", "see and/or 4"},
    // Not in the link.
    {"2 of 3 at example.org/a", "3 of 3 at example.org/a"},
};
INSTANTIATE_TEST_SUITE_P(Texts, Different, testing::ValuesIn(kDifferent));

// The numbers say nothing, but the words do.
TEST_P(OtherTexts, AreNoCopies) {
  const auto [a, b] = GetParam();
  EXPECT_NE(FeaturesOf(a, true).content_hash, FeaturesOf(b, true).content_hash) << a << " | " << b;
}
constexpr Pair kOtherTexts[] = {
    {"<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "12"},
    {"<math><msup><mn>10</mn><mn>2</mn></msup></math>", "102"},
    {"<math><mtr><mtd>1</mtd><mtd>2</mtd></mtr></math>", "12"},
    {"<mml:math><mml:mn>1</mml:mn><mml:mn>2</mml:mn></mml:math>", "12"},
    {"files <ms> here", "files here"},
    {"files <mi> here", "files here"},
    {"files <mo> here", "files <mn> here"},
    {"use &lt;b&gt; for bold", "use for bold"},
    {"use &lt;b&gt; for bold", "use &lt;i&gt; for bold"},
    {"install <package>now", "install now"},
    {"see example.org/a?utm_id=1;id=2", "see example.org/a?utm_id=1;id=3"},
    {"see http://example.org/a?id=1;utm_id=5", "see http://example.org/a?id=2;utm_id=5"},
    {"see http://example.org/a/12", "see http://example.org/a/13"},
    {"see example.org/a/12", "see example.org/a/13"},
};
INSTANTIATE_TEST_SUITE_P(Texts, OtherTexts, testing::ValuesIn(kOtherTexts));

// Such texts are near if enough words are around.
TEST_P(SameNumbers, AreNoObstacle) {
  const auto [a, b] = GetParam();
  const ItemFeatures of_a = FeaturesOf(a, true), of_b = FeaturesOf(b, true);
  EXPECT_FALSE(NumbersDiffer(of_a.numbers, of_b.numbers)) << a << " | " << b;
}
constexpr Pair kSameNumbers[] = {
    {"episode 01", "episode 1"},
    {"costs 1,000", "costs 1000"},
    {"costs 1 000", "costs 1000"},
    {"costs 12 000 €", "costs 12,000 €"},
    {"costs 1 000 000", "costs 1.000.000"},
    {"costs -100,000", "costs -100000"},
    {"costs 1,00,000", "costs 100,000"},
    {"costs 12,34,567", "costs 1234567"},
    {"costs 1,234.56", "costs 1.234,56"},
    {"costs 1,5", "costs 1.5"},
    {"costs .5", "costs 0.5"},
    {"costs ١٫٥", "costs 1.5"},
    {"costs １，０００", "costs 1000"},
    {"rooms 101 102 103 104", "rooms 101, 102, 103, 104"},
    {"on 2026/11/30", "on 2026-11-30"},
    {"on 2026/1/3, 8:30", "on 2026年01月03日 08:30"},
    {"（记者小林1月3日电）", "01月03号"},
    {"第十二集", "第12集"},
    {"การ ๕", "การ 5"},
    {"see example.org/a/12", "see example.org/a/13"},
    {"see http://example.org/a/12", "see it"},
    {"see my-5.example.org/12 there", "see it there"},
};
INSTANTIATE_TEST_SUITE_P(Texts, SameNumbers, testing::ValuesIn(kSameNumbers));

TEST_P(Copies, AreEqual) {
  const auto [a, b] = GetParam();
  for (const bool around : {false, true}) {
    const ItemFeatures of_a = FeaturesOf(a, around), of_b = FeaturesOf(b, around);
    EXPECT_EQ(of_a.content_hash, of_b.content_hash) << a << " | " << b;
    EXPECT_EQ(of_a.numbers, of_b.numbers) << a << " | " << b;
  }
}
constexpr Pair kCopies[] = {
    {"Episode 12", "episode 12!"},
    {"&minus;5°C today", "-5°C today"},
    {"Don&amp;#39;t miss it&amp;#8217;s 5", "Don't miss it\u2019s 5"},
    {"costs 1.5, or more", "costs 1.5 or more."},
    {"costs １．５", "costs 1.5"},
    {"costs １，０００", "costs 1,000"},
    {"in 2020. 5 people", "in 2020 5 people"},
    {"a,b.c", "a b c"},
    {"1, 2, 3", "1 2 3"},
    {"1...5", "1 5"},
    {"1…5", "1 5"},
    {"abc…5", "abc 5"},
    {"see 5.", "see 5"},
    {"price（5）.", "price (5)"},
    {"2026/11/30", "2026-11-30"},
    {"3:1", "3 - 1"},
    {"100%，好", "100%, 好"},
    {"第十二集", "第 十二 集"},
    {"第12集", "第 12 集"},
    {"转载，来源：新华社。", "转载来源 新华社"},
    {"增长５％，下降", "增长5%, 下降"},
    {"step ❶", "step 1"},
    {"step ①", "step 1"},
    {"步骤❶❷", "步骤 1 2"},
    {"see http://example.org/a/12", "see example.org/a/12"},
    {"see https://my-5.example.org/12?utm_id=7", "see my-5.example.org/12"},
    {"see http://example.org/a?utm_id=1;id=2", "see example.org/a?id=2"},
    {"see http://example.org/a?id=2;utm_id=1", "see example.org/a?id=2"},
    {"one\n> two\n>> three\n > > four", "one two three four"},
    {"<p>one</p>&gt; two", "one two"},
    {"Line one&lt;br&gt;Line two", "Line one Line two"},
    {"Line one.&lt;br/&gt;Line two&lt;hr&gt;3", "Line one line two 3"},
    {"install <package>now", "install package now"},
    {"x&lt;T&gt;y", "x t y"},
    {"vector<int>x", "vector int x"},
    {"<math><mfrac><mn>1</mn><mn>2</mn></mfrac></math>", "1 2"},
    {"<math><mi>x</mi></math><ms>", "x ms"},
};
INSTANTIATE_TEST_SUITE_P(Texts, Copies, testing::ValuesIn(kCopies));

TEST(TitleAndText, HaveTheirOwnNumbers) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  using Strings = std::vector<std::string>;
  EXPECT_EQ(reader.NumbersOf({.title = "Top 10", .text = "100 people"}), (Strings{"10", "100"}));
  EXPECT_EQ(reader.NumbersOf({.title = "At 1.", .text = "5 of 7"}), (Strings{"1", "5", "7"}));
  EXPECT_EQ(reader.NumbersOf({.title = "Now -", .text = "5"}), (Strings{"5"}));
}

TEST(Placeholders, AreNoTextWhateverIsAround) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  for (const std::string_view caption : Placeholders()) {
    EXPECT_LE(caption.size(), kCaptionBytesMax) << caption;
    EXPECT_LE(reader.Normalised({.text = caption}).size(), kCaptionBytesMax) << caption;
    EXPECT_LE(std::ranges::count(reader.Normalised({.text = caption}), ' '),
              static_cast<ptrdiff_t>(kCaptionWordsMax) - 1)
        << caption;
  }
  const auto length = [&](const ItemText& item) {
    ItemFeatures features;
    reader.Read(item, features);
    return features.length;
  };
  for (const ItemText& item : {ItemText{.title = "Untitled", .text = "No description"},
                               {.title = "Untitled", .text = "Untitled"},
                               {.title = "无标题", .text = "暂无简介"},
                               {.title = "無標題", .text = "暫無簡介", .lang = "ja"},
                               {.text = "转发微博 http://t.cn/AbCdE?x=1"},
                               {.text = "转发 微博"},
                               {.text = "轉發微博", .lang = "ja"},
                               {.text = "Untitled 😂"},
                               {.text = "😂😂 Video https://example.org/a/b/c/d/e/f/g/h/i/j/k"},
                               {.text = "Photo example.org/a/12"},
                               {.text = "Vidéo"},
                               {.text = "FOTO", .lang = "de"}})
    EXPECT_EQ(length(item), LengthClass::kEmpty) << item.title << " | " << item.text;
  for (const ItemText& item : {ItemText{.title = "Untitled", .text = "A bridge"},
                               {.text = "Untitled 3"},
                               {.text = "Video of a cat"},
                               {.text = "Untitled Untitled Untitled"},
                               {.text = "https://example.org/a"},
                               {.text = "😂"}})
    EXPECT_NE(length(item), LengthClass::kEmpty) << item.title << " | " << item.text;
}

}  // namespace
}  // namespace seen
