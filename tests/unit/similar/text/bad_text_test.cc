// Bad texts must cost time in proportion to their bytes, and must not change the result for the next text.
#include <gtest/gtest.h>

#include <random>

#include "similar/text/feature_reader.h"

namespace seen {
namespace {

FeatureReader Reader(uint64_t text_bytes_max = 1 << 20) {
  return FeatureReader(FeatureOptions{.idf = IdfTable::Bundled(), .text_bytes_max = text_bytes_max});
}

TEST(BadText, OfTenMegabytesIsCut) {
  std::string text;
  while (text.size() < 10'000'000) text += "word" + std::to_string(text.size()) + " 中文 ";
  FeatureReader reader = Reader(100'000);
  ItemFeatures features, of_beginning;
  reader.Read({.text = text}, features);
  EXPECT_TRUE(features.cut);
  reader.Read({.text = std::string_view(text).substr(0, 100'000)}, of_beginning);
  EXPECT_EQ(features.content_hash, of_beginning.content_hash);
  reader.Read({.text = "after it"}, features);
  EXPECT_FALSE(features.cut);
  EXPECT_EQ(features.words, 2u);
}

TEST(BadText, WithoutAWordIsEmpty) {
  FeatureReader reader = Reader();
  for (const std::string_view text :
       {"", " ", "?!...", "<p></p>", "\xff\xfe", "&nbsp;", "\u200b\u202e", "http://"}) {
    ItemFeatures features;
    reader.Read({.text = text}, features);
    EXPECT_EQ(features.length, LengthClass::kEmpty) << text;
    EXPECT_EQ(features.words, 0u);
    EXPECT_EQ(features.simhash, 0u);
    EXPECT_TRUE(features.sketch.values.empty());
    EXPECT_EQ(features.bands, (std::array<uint64_t, kBands>{}));
  }
  ItemFeatures emoji;
  reader.Read({.text = "😂😂😂"}, emoji);
  EXPECT_EQ(emoji.length, LengthClass::kTooShort);
  EXPECT_EQ(emoji.words, 3u);
}

TEST(BadText, DecoratedIsThePlainOne) {
  FeatureReader reader = Reader();
  ItemFeatures plain, decorated;
  reader.Read({.text = "news of the day"}, plain);
  for (const std::string_view text :
       {"\u202enews\u202c of\u200b the\ufeff day", "NEWS OF THE DAY", "ｎｅｗｓ of the day",
        "n\u0334\u0308\u0310\u0351e\u0301\u0302\u0303\u0304\u0305ws of the d\u0336ay",
        "<i>news</i> of the <br>day", "\x01news of the day\x02"}) {
    reader.Read({.text = text}, decorated);
    EXPECT_EQ(decorated.content_hash, plain.content_hash) << text;
    EXPECT_EQ(decorated.simhash, plain.simhash) << text;
  }
}

TEST(BadText, OfAnyBytesReadsAlikeEachTime) {
  std::mt19937_64 random(17);
  FeatureReader reader = Reader(2'000), other = Reader(2'000);
  constexpr std::string_view kPieces[] = {
      "<", ">",        "&",    ";",     "<b", "://",      "http", "中文", "かな", "ไทย",    "\u0301",
      "😂", "\xf0\x9f", "\xc3", "word ", " ",  "&#x4e2d;", "<!--", "\"",   "=",    "\u200d", "?"};
  for (int round = 0; round < 1'500; ++round) {
    std::string text;
    const size_t size = random() % 300;
    while (text.size() < size) {
      if (random() % 2 == 0) {
        text += static_cast<char>(random());
      } else {
        text += kPieces[random() % std::size(kPieces)];
      }
    }
    ItemFeatures a, b;
    reader.Read({.text = text}, a);
    other.Read({.text = text}, b);
    ASSERT_EQ(a.content_hash, b.content_hash);
    ASSERT_EQ(a.simhash, b.simhash);
    ASSERT_EQ(a.sketch, b.sketch);
    ASSERT_EQ(a.bands, b.bands);
    ASSERT_EQ(a.words == 0, a.length == LengthClass::kEmpty);
    // The words are normalised text already, so a second reading finds words again.
    std::string words;
    for (const std::string_view word : reader.Words({.text = text})) words.append(word) += ' ';
    std::vector<std::string> first, again;
    for (const std::string_view word : reader.Words({.text = words})) again.emplace_back(word);
    for (const std::string_view word : reader.Words({.text = text})) first.emplace_back(word);
    ASSERT_EQ(again.size() == 0, first.size() == 0) << testing::PrintToString(text);
    // Garbage before a text takes nothing from the text, unless it opens markup.
    if (round % 10 == 0) {
      reader.Read({.title = "\xff\x80??", .text = text}, b);
      ASSERT_EQ(a.content_hash, b.content_hash);
    }
  }
}

}  // namespace
}  // namespace seen
