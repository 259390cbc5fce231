#include "similar/text/numbers.h"

#include <gtest/gtest.h>

#include "similar/text/feature_reader.h"

namespace seen {
namespace {

using Strings = std::vector<std::string>;

FeatureReader ReaderOf(const TextRules& rules = {}) {
  return FeatureReader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = rules});
}
ItemFeatures FeaturesOf(std::string_view text, const TextRules& rules = {}) {
  FeatureReader reader = ReaderOf(rules);
  ItemFeatures features;
  reader.Read({.text = text}, features);
  return features;
}

TEST(Numbers, AreDigitsOfAnyScriptAndOrdinals) {
  FeatureReader reader = ReaderOf();
  const struct {
    std::string_view text;
    Strings numbers;
  } cases[] = {
      {"no number", {}},
      {"Episode 01 of 12", {"1", "12"}},
      {"０３ and ٤ and ५ and ๖", {"3", "4", "5", "6"}},
      {"000", {"0"}},
      // In words.
      {"iPhone14 S01E02", {"14", "1", "2"}},
      {"commit a3f9c2d1 of 2 files", {"a3f9c2d1", "2"}},
      // Thousands, decimals, signs.
      {"1,000 and 1000 and 1 000 and 1.000", {"1000", "1000", "1000", "1.000"}},
      {"$1,234,567 or 12,345km", {"1234567", "12345"}},
      {"2024 100", {"2024", "100"}},
      {"version 1.5", {"1.5"}},
      {"1.05 0.05 1,5 .5 -.5 00.5", {"1.05", "0.05", "1.5", "0.5", "-0.5", "0.5"}},
      {"1.2.3 and 1,2,3 and 1.5,2.5", {"1.2.3", "1", "2", "3", "1.5", "2.5"}},
      {"1,00,000 1.000.000 1,234.56 1.234,56 -$1,000", {"100000", "1000000", "1234.56", "1234.56", "-1000"}},
      {"iPhone 12 128GB, rooms 101 102 103", {"12", "128", "101", "102", "103"}},
      {"12 345 and 12 000 and 1 250 000 € and 0 000", {"12", "345", "12000", "1250000", "0", "0"}},
      {"-5 000 and 5 -000", {"-5000", "5", "-0"}},
      {"-5 or 5", {"-5", "5"}},
      {"10² of 102", {"10", "2", "102"}},
      // Dates, with the time behind them.
      {"2024-11-03 10:05 and 2024/11/3, 10:05", {"2024-11-3-10-5", "2024-11-3-10-5"}},
      {"2024年11月03日 10:05", {"2024-11-3-10-5"}},
      {"（记者小林 2024 年 11 月 3 日电）11月3号", {"2024-11-3", "11-3"}},
      {"03/11/2024 9:05", {"3-11-2024-9-5"}},
      {"12.05.2024 um 10:30 Uhr, 2024.5.12", {"12-5-2024-10-30", "2024-5-12"}},
      {"12 May 2024 at 10:30 by May 12, 2024", {"12-2024-10-30", "12-2024"}},
      {"12 мая 2024, host 10.12.2024.1", {"12-2024", "10.12.2024.1"}},
      {"2024-11-30日 2024年11月", {"2024-11-30", "2024", "11"}},
      {"11月3日第十二集 10:05", {"11-3", "12", "10", "5"}},
      {"10:05, 11/30 and of 2024-13-32 and 2024-11-32",
       {"10", "5", "11", "30", "2024", "13", "32", "2024", "11", "32"}},
      {"2024-11-3.5 and 2024-11-30 24:00", {"2024", "11", "3.5", "2024-11-30", "24", "0"}},
      {"12 2024-11-30 000", {"12", "2024-11-30", "0"}},
      // Reposts add links and emoji.
      {"see https://example.org/a/20240518?page=3 for 7 more", {"7"}},
      {"第1回（http://example.org/12）第2回 www.example.org/3", {"1", "2"}},
      {"12 http://example.org/4", {"12"}},
      {"one 1️⃣ two 2️⃣ 3", {"3"}},
      // Chinese ordinals, and only those.
      {"第一集", {"1"}},
      {"第12集", {"12"}},
      {"第十二章和第二十章", {"12", "20"}},
      {"第一百零三回，第三千二百回，第二〇二五期", {"103", "3200", "2025"}},
      {"第一萬兩千集", {"12000"}},
      {"第一次，第二天，第三，一个人的第", {}},
  };
  for (const auto& c : cases) EXPECT_EQ(reader.NumbersOf({.text = c.text}), c.numbers) << c.text;
}

NumberSketch NumbersOf(const std::vector<int>& numbers) {
  std::string text;
  for (const int number : numbers) text += "n " + std::to_string(number) + " ";
  return FeaturesOf(text).numbers;
}

TEST(Numbers, DifferUnlessFewOfManyDo) {
  std::vector<int> ten, eleven, many;
  for (int i = 0; i < 10; ++i) ten.push_back(1000 + i);
  for (int i = 0; i < 11; ++i) eleven.push_back(1000 + i);
  for (int i = 0; i < 400; ++i) many.push_back(1000 + i);
  const auto changed = [](std::vector<int> numbers, int count) {
    for (int i = 0; i < count; ++i) numbers[static_cast<size_t>(i)] += 5000;
    return NumbersOf(numbers);
  };
  EXPECT_FALSE(NumbersDiffer({}, {}));
  EXPECT_TRUE(NumbersDiffer(NumbersOf({1}), {}));
  EXPECT_TRUE(NumbersDiffer(NumbersOf({1}), NumbersOf({2})));
  EXPECT_TRUE(NumbersDiffer(NumbersOf({1, 2}), NumbersOf({2, 1})));
  std::vector<int> backwards(ten.rbegin(), ten.rend());
  EXPECT_FALSE(NumbersDiffer(NumbersOf(ten), NumbersOf(backwards)));
  EXPECT_TRUE(NumbersDiffer(NumbersOf({1}), NumbersOf({1, 1})));
  EXPECT_FALSE(NumbersDiffer(NumbersOf(ten), NumbersOf(ten)));
  EXPECT_TRUE(NumbersDiffer(NumbersOf(ten), changed(ten, 1))) << "a tenth isn't less than a tenth";
  EXPECT_FALSE(NumbersDiffer(NumbersOf(eleven), changed(eleven, 1)));
  EXPECT_TRUE(NumbersDiffer(NumbersOf(eleven), changed(eleven, 2)));
  EXPECT_FALSE(NumbersDiffer(NumbersOf(ten), NumbersOf(eleven)));
  EXPECT_FALSE(NumbersDiffer(NumbersOf(eleven), NumbersOf(ten)));
  // Samples of many numbers.
  EXPECT_FALSE(NumbersDiffer(NumbersOf(many), changed(many, 5)));
  EXPECT_TRUE(NumbersDiffer(NumbersOf(many), changed(many, 100)));
  EXPECT_TRUE(NumbersDiffer(NumbersOf(many), NumbersOf(ten)));
  EXPECT_LE(NumbersOf(many).values.size(), kNumbersMax);
}

std::string Episode(std::string_view number) {
  return "In episode " + std::string(number) +
         " of our series the crew sails on along the coast, meets old friends in a small harbour, repairs "
         "the mast after a storm, and tells stories about the years before the war until the sun comes up.";
}

TEST(Numbers, OfAFewAreInTheBands) {
  const auto shares_a_band = [](const ItemFeatures& a, const ItemFeatures& b) {
    for (size_t i = 0; i < kBands; ++i)
      if (a.bands[i] == b.bands[i]) return true;
    return false;
  };
  EXPECT_TRUE(shares_a_band(FeaturesOf(Episode("01")), FeaturesOf(Episode("1"))));
  EXPECT_FALSE(shares_a_band(FeaturesOf(Episode("01")), FeaturesOf(Episode("02"))));
  std::string numbers;
  for (int i = 0; i < 12; ++i) numbers += " n " + std::to_string(100 + i);
  EXPECT_TRUE(shares_a_band(FeaturesOf(Episode("one") + numbers), FeaturesOf(Episode("two") + numbers)));
}

TEST(Numbers, AreNotReadByOldRules) {
  for (const TextRules& rules : {FirstTextRules(), TextRules{.numbers = Numbers::kIgnored}}) {
    EXPECT_EQ(FeaturesOf(Episode("01"), rules).numbers, NumberSketch());
  }
}

TEST(ShortTexts, HaveFewDifferentWords) {
  EXPECT_EQ(FeaturesOf("one two three four five").length, LengthClass::kTooShort);
  EXPECT_EQ(FeaturesOf("one two three four five, one two three four five").length, LengthClass::kTooShort);
  EXPECT_EQ(FeaturesOf("one two three four five six").length, LengthClass::kShort);
  EXPECT_EQ(FeaturesOf("one two three four five", FirstTextRules()).length, LengthClass::kShort);
  EXPECT_EQ(FeaturesOf("one two", {.tokens_min = 2}).length, LengthClass::kShort);
  EXPECT_EQ(FeaturesOf("").length, LengthClass::kEmpty);
  EXPECT_EQ(FeaturesOf("", {.tokens_min = 0}).length, LengthClass::kEmpty);
}

TEST(ShortTexts, OfPlaceholdersAreNoText) {
  for (const std::string_view text :
       {"Untitled", "转发微博", "轉發微博。", "無題", "Repost", "N/A", "Sin título"}) {
    EXPECT_EQ(FeaturesOf(text).length, LengthClass::kEmpty) << text;
    EXPECT_NE(FeaturesOf(text, FirstTextRules()).length, LengthClass::kEmpty) << text;
  }
  FeatureReader reader = ReaderOf();
  ItemFeatures features;
  reader.Read({.title = "無題", .lang = "ja"}, features);
  EXPECT_EQ(features.length, LengthClass::kEmpty);
  EXPECT_EQ(FeaturesOf("Untitled bridge").length, LengthClass::kTooShort);
}

}  // namespace
}  // namespace seen
