#include "similar/text/feature_reader.h"

#include <gtest/gtest.h>

#include <random>

#include "similar/text/hash.h"
#include "similar/text/simhash.h"
#include "unit/decode/counting_new.h"

namespace seen {
namespace {

ItemFeatures FeaturesOf(std::string_view text, std::string_view title = "", std::string_view lang = "") {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  ItemFeatures features;
  reader.Read({title, text, lang}, features);
  return features;
}

constexpr std::string_view kWords[] = {"stream", "filter",  "broker",  "records", "window",   "snapshot",
                                       "groups", "copy",    "article", "reader",  "mountain", "river",
                                       "engine", "library", "search",  "island"};

std::vector<std::string> RandomWords(std::mt19937_64& random, size_t count) {
  std::vector<std::string> words;
  for (size_t i = 0; i < count; ++i)
    words.push_back(std::string(kWords[random() % 16]) + std::to_string(random() % 50));
  return words;
}
std::string Joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += word + " ";
  return text;
}

void ExpectSame(const ItemFeatures& a, const ItemFeatures& b) {
  EXPECT_EQ(a.content_hash, b.content_hash);
  EXPECT_EQ(a.simhash, b.simhash);
  EXPECT_EQ(a.bands, b.bands);
  EXPECT_EQ(a.sketch, b.sketch);
  EXPECT_EQ(a.words, b.words);
}

TEST(FeatureReader, TakesAVerbatimCopyForOneWhateverItsSpacesCaseAndPunctuation) {
  const ItemFeatures one = FeaturesOf("The quick brown fox, it jumps over the lazy dog.");
  ExpectSame(one, FeaturesOf("  the QUICK brown fox -- it <b>jumps</b> over the lazy&nbsp;dog!\n"));
  ExpectSame(one, FeaturesOf("it jumps over the lazy dog", "The quick brown fox"));
  EXPECT_EQ(one.words, 10u);
  EXPECT_NE(one.content_hash, FeaturesOf("The quick brown fox, it jumps over the lazy cat.").content_hash);
  EXPECT_EQ(FeaturesOf("中国 人民，软件").content_hash, FeaturesOf("中国人民 软件。").content_hash);
}

// A replay must decide the same. Whoever changes one of these values changes what stored indexes mean.
TEST(FeatureReader, GivesTheSameFeaturesForEver) {
  const ItemFeatures empty = FeaturesOf("");
  EXPECT_EQ(empty.content_hash, 0x2d06800538d394c2u);  // XXH3-64 of nothing
  const ItemFeatures brief = FeaturesOf("The quick brown fox jumps over the lazy dog");
  EXPECT_EQ(brief.content_hash, 16452804598910240170u);
  EXPECT_EQ(brief.simhash, 9921611399927174420u);
  EXPECT_EQ(brief.bands[0], 9664476523969736490u);
  EXPECT_EQ(brief.bands[7], 13640944959840981983u);
  EXPECT_EQ(brief.sketch, (Sketch{0, {6739, 15581, 18418, 21470, 22188, 32187, 45192}}));
  std::string text;
  for (int i = 0; i < 400; ++i) text += "word" + std::to_string(i * i % 371) + (i % 3 == 0 ? " the " : ", ");
  const ItemFeatures lengthy = FeaturesOf(text);
  EXPECT_EQ(lengthy.content_hash, 2237000240806275926u);
  EXPECT_EQ(lengthy.simhash, 5688354603954230530u);
  EXPECT_EQ(lengthy.bands[3], 11287759862931743251u);
  EXPECT_EQ(lengthy.sketch.level, 1);
  EXPECT_EQ(lengthy.sketch.values.size(), 242u);
  EXPECT_EQ(lengthy.sketch.values[100], 28614u);
  EXPECT_EQ(FeaturesOf("你好，世界").content_hash, 13950890922618512016u);
}

TEST(FeatureReader, ClassesByLengthAndScript) {
  const auto classes = [](std::string_view text) {
    const ItemFeatures features = FeaturesOf(text);
    return std::pair(features.length, features.script);
  };
  std::string words29, chinese;
  for (int i = 0; i < 29; ++i) words29 += "word" + std::to_string(i) + " ";
  for (int i = 0; i < 4; ++i) chinese += "软件，读书，上路，";  // each character is a word
  chinese += "软件，读书，";
  EXPECT_EQ(classes("?!"), std::pair(LengthClass::kEmpty, ScriptClass::kAlphabetic));
  EXPECT_EQ(classes("one"), std::pair(LengthClass::kTooShort, ScriptClass::kAlphabetic));
  EXPECT_EQ(classes(words29), std::pair(LengthClass::kShort, ScriptClass::kAlphabetic));
  EXPECT_EQ(classes(words29 + "word"), std::pair(LengthClass::kLong, ScriptClass::kAlphabetic));
  EXPECT_EQ(classes(chinese), std::pair(LengthClass::kShort, ScriptClass::kDictionary));
  EXPECT_EQ(classes(chinese + "文件"), std::pair(LengthClass::kLong, ScriptClass::kDictionary));
  EXPECT_EQ(classes(chinese + words29 + "more"), std::pair(LengthClass::kLong, ScriptClass::kAlphabetic));
}

TEST(FeatureReader, KeepsSimHashesNearForSmallEdits) {
  std::mt19937_64 random(11);
  int near = 0, far = 0;
  for (int round = 0; round < 40; ++round) {
    std::vector<std::string> words = RandomWords(random, 300);
    const ItemFeatures before = FeaturesOf(Joined(words));
    words[random() % words.size()] = "another";
    const ItemFeatures after = FeaturesOf(Joined(words));
    const ItemFeatures other = FeaturesOf(Joined(RandomWords(random, 300)));
    near += HammingDistance(before.simhash, after.simhash);
    far += HammingDistance(before.simhash, other.simhash);
    EXPECT_GT(SketchSimilarity(before.sketch, after.sketch), 0.9);
    EXPECT_LT(SketchSimilarity(before.sketch, other.sketch), 0.1);
  }
  EXPECT_LT(near / 40.0, 4);
  EXPECT_GT(far / 40.0, 20);
}

FeatureReader ReaderOf(Segmentation segmentation) {
  return FeatureReader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = {.segmentation = segmentation}});
}

TEST(FeatureReader, TakesATextInTheOtherScriptForACopy) {
  constexpr std::string_view kTraditional =
      "資料庫管理系統可以讓多個使用者同時處理資料，並且維護資料的完整性。";
  constexpr std::string_view kSimplified =
      "资料库管理系统可以让多个使用者同时处理资料，并且维护资料的完整性。";
  for (size_t i = 0; i < kSegmentationNames.size(); ++i) {
    FeatureReader reader = ReaderOf(static_cast<Segmentation>(i));
    ItemFeatures traditional, simplified;
    reader.Read({.text = kTraditional, .lang = "zh-TW"}, traditional);
    reader.Read({.text = kSimplified, .lang = "zh-CN"}, simplified);
    ExpectSame(traditional, simplified);
    const std::string of_traditional(reader.Normalised({.text = kTraditional}));  // valid until the next call
    EXPECT_EQ(of_traditional, reader.Normalised({.text = kSimplified}));
  }
  FeatureReader first(FeatureOptions{.idf = IdfTable::Bundled(), .rules = FirstTextRules()});
  ItemFeatures traditional, simplified;
  first.Read({.text = kTraditional}, traditional);
  first.Read({.text = kSimplified}, simplified);
  EXPECT_NE(traditional.content_hash, simplified.content_hash);
  EXPECT_LT(SketchSimilarity(traditional.sketch, simplified.sketch), 0.5);
}

TEST(FeatureReader, MakesShinglesOfCharactersOrWords) {
  const auto count = [](Segmentation segmentation, std::string_view text) {
    return ReaderOf(segmentation).Shingles({.text = text}).size();
  };
  constexpr std::string_view kText = "我们使用软件管理文件";  // ten characters, five words of ICU's
  EXPECT_EQ(count(Segmentation::kTrigrams, kText), 8u);
  EXPECT_EQ(count(Segmentation::kBigramsTrigrams, kText), 8u + 9);
  EXPECT_EQ(count(Segmentation::kDictionary, kText), 3u);
  EXPECT_EQ(count(Segmentation::kDictionaryTrigrams, kText), 3u + 8);
  // Punctuation changes nothing; a word of letters ends a stretch of characters.
  EXPECT_EQ(count(Segmentation::kBigramsTrigrams, "我们，使用。软件管理文件"), 8u + 9);
  EXPECT_EQ(count(Segmentation::kBigramsTrigrams, "我们 abc 使用"), 3u + 2);
  for (size_t i = 0; i < kSegmentationNames.size(); ++i)
    EXPECT_EQ(count(static_cast<Segmentation>(i), "one two three four"), 2u);
}

TEST(FeatureReader, ReadsAnExistingIndexesTextsAsBefore) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = FirstTextRules()});
  ItemFeatures features;
  std::string text;
  for (int i = 0; i < 12; ++i) text += "我们使用軟體管理文件😀";
  reader.Read({.text = text}, features);
  EXPECT_EQ(features.words, 72u);
  EXPECT_EQ(features.length, LengthClass::kLong);
}

// Indexes keep the rules that they were built with. The first two hashes are those of the program before
// version 3.
TEST(FeatureReader, ReadsTextsOfEachVersionAsBefore) {
  constexpr std::string_view kPieces[] = {"word ",      "C++ ",      "c#",
                                          "+1.2%",      "-",         "–",
                                          " $5",        "€",         "£ 3",
                                          "10²",        "⁻¹",        "½",
                                          "H₂O",        "<",         ">",
                                          "=",          "x > 5",     "a=5",
                                          "<p>",        "</p>",      "<b>",
                                          "<sup>2",     "<svg>",     "</svg>",
                                          "<o:p>",      "<mi>",      "<amp-img a=b>",
                                          "<![if x]>",  "<package>", "&lt;p&gt;",
                                          "&lt;/p&gt;", "&amp;lt;",  "&amp;",
                                          "AT&T",       "&eacute;",  "&sup2;",
                                          "http://",    "www.",      "a.org/",
                                          "?v=AAA",     "&utm_id=b", "#/item/5",
                                          "%E4%B8%AD",  "%41",       "?q=中",
                                          "中文",       "軟體",      "かな",
                                          "ไทย",        "Привет ",   "e\u0301",
                                          "😀",          "😀 ",        "＄５",
                                          "±",          "≤",         "×",
                                          "\u2032",     "°",         "♯",
                                          ". ",         "'",         "\"",
                                          "\n> ",       "=====",     "^",
                                          "@",          "~",         "\xff",
                                          "\x01",       "\u200d",    "\u2212"};
  const auto hash_with = [&](const TextRules& rules) {
    FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = rules});
    std::mt19937_64 random(23);
    ItemFeatures features;
    uint64_t hash = 0;
    const auto add = [&](uint64_t value) { hash = Mixed(hash ^ value); };
    for (int round = 0; round < 5'000; ++round) {
      std::string text;
      for (size_t left = random() % 60; left > 0; --left) text += kPieces[random() % std::size(kPieces)];
      reader.Read({.title = std::string_view(text).substr(0, text.size() / 8), .text = text}, features);
      for (const uint64_t band : features.bands) add(band);
      for (const uint16_t value : features.sketch.values) add(value);
      for (const uint32_t value : features.numbers.values) add(value);
      add(features.content_hash);
      add(features.simhash);
      add(features.words);
      add(features.sketch.level);
    }
    return hash;
  };
  TextRules first = FirstTextRules(), second;
  first.segmentation = Segmentation::kTrigrams;  // ICU's dictionaries differ between its versions
  second.version = 2;
  second.numbers = Numbers::kIgnored;
  second.tokens_min = 0;
  EXPECT_EQ(hash_with(first), 5487565857975730317u);
  EXPECT_EQ(hash_with(second), 2716665372574572878u);
  EXPECT_EQ(hash_with({}), 1654424511402202574u) << "raise kTextVersion, and keep the rules of this one";
}

TEST(FeatureReader, FindsATextAndTheSameTextWithATailByTheirBeginnings) {
  std::mt19937_64 random(21);
  const auto finds = [](const ItemFeatures& asked, const ItemFeatures& listed) {
    return asked.beginning == listed.beginning || asked.other_beginnings[0] == listed.beginning ||
           asked.other_beginnings[1] == listed.beginning;
  };
  for (const size_t count : {66u, 100u, 129u, 130u, 131u, 700u}) {
    for (const size_t added : {1u, 3u, 9u}) {  // tenths of the text
      std::vector<std::string> words = RandomWords(random, count);
      const ItemFeatures text = FeaturesOf(Joined(words));
      for (std::string& word : RandomWords(random, count * added / 10)) words.push_back(std::move(word));
      const ItemFeatures longer = FeaturesOf(Joined(words));
      ASSERT_NE(text.beginning, 0u);
      EXPECT_TRUE(finds(text, longer)) << count << " " << added;
      EXPECT_TRUE(finds(longer, text)) << count << " " << added;
      EXPECT_FALSE(finds(FeaturesOf(Joined(RandomWords(random, count))), longer));
    }
  }
}

TEST(FeatureReader, HasNoBeginningOfAShortTextOrIfContainmentDoesNotCount) {
  std::mt19937_64 random(22);
  const std::vector<std::string> words = RandomWords(random, kContainedMin + 2);
  EXPECT_NE(FeaturesOf(Joined(words)).beginning, 0u);
  EXPECT_EQ(FeaturesOf(Joined({words.begin(), words.end() - 1})).beginning, 0u);
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = {.beginnings = false}});
  ItemFeatures features;
  reader.Read({.text = Joined(words)}, features);
  EXPECT_EQ(features.beginning, 0u);
  EXPECT_EQ(features.other_beginnings, (std::array<uint64_t, 2>{}));
}

TEST(FeatureReader, IsNotFooledByStopWords) {
  std::mt19937_64 random(12);
  std::vector<std::string> words = RandomWords(random, 40);
  const std::string text = Joined(words);
  const ItemFeatures plain = FeaturesOf(text);
  EXPECT_EQ(plain.simhash, FeaturesOf("the of and " + text, "", "en").simhash);
  EXPECT_NE(plain.simhash, FeaturesOf("the of and " + text, "", "de").simhash);
  EXPECT_NE(plain.content_hash, FeaturesOf("the of and " + text).content_hash);
  EXPECT_NE(plain.sketch, FeaturesOf("the of and " + text).sketch) << "shingles keep them";
  std::string only_stop_words, others;
  for (int i = 0; i < 20; ++i) {
    only_stop_words += "to be or not to be ";
    others += "she was there with him ";
  }
  EXPECT_NE(FeaturesOf(only_stop_words).simhash, FeaturesOf(others).simhash);
}

TEST(FeatureReader, ShinglesOfFewWordsAreOneOfAll) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  const auto count = [&](std::string_view text) { return reader.Shingles({.text = text}).size(); };
  EXPECT_EQ(count(""), 0u);
  EXPECT_EQ(count("a"), 1u);
  EXPECT_EQ(count("a b"), 1u);
  EXPECT_EQ(count("a b c"), 1u);
  EXPECT_EQ(count("a b c d"), 2u);
  EXPECT_EQ(count("a b c a b c a b c"), 3u) << "unique";
  EXPECT_NE(reader.Shingles({.text = "a b"}), reader.Shingles({.text = "b a"}));
  EXPECT_NE(reader.Shingles({.text = "a"}), reader.Shingles({.text = "a a"}));
  const ItemFeatures one = FeaturesOf("a");
  EXPECT_EQ(one.sketch.values.size(), 1u);
}

TEST(FeatureReader, ExplainsWhatWentIntoTheSimHash) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  std::string text;
  for (int i = 0; i < 30; ++i) text += "package zebra the ";
  const auto tokens = reader.Explain({.text = text});
  ASSERT_EQ(tokens.size(), 2u);
  EXPECT_EQ(tokens[0].token, "zebra");
  EXPECT_EQ(tokens[1].token, "package");
  EXPECT_GT(tokens[0].weight, 3 * tokens[1].weight);
  const auto grams = reader.Explain({.text = "abcde"});
  ASSERT_EQ(grams.size(), 2u);
  EXPECT_EQ(grams[0].token, "abcd");
  EXPECT_EQ(reader.Explain({.text = "ab"}).at(0).token, "ab");
  EXPECT_EQ(reader.Explain({.text = "中文字"}).at(0).token, "中文");
  EXPECT_TRUE(reader.Explain({.text = ""}).empty());
}

TEST(FeatureReader, AllocatesNothingOnceWarm) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  std::mt19937_64 random(13);
  std::vector<std::string> texts = {"a <b>short</b> one", "with ’typographic’ — marks", "Привет, мир и все",
                                    ""};
  for (int i = 0; i < 20; ++i) texts.push_back(Joined(RandomWords(random, 20 * static_cast<size_t>(i))));
  ItemFeatures features;
  for (const std::string& text : texts) reader.Read({.text = text}, features);
  const uint64_t before = AllocationCount();
  for (const std::string& text : texts) reader.Read({.text = text}, features);
  EXPECT_EQ(AllocationCount() - before, 0u);
}

}  // namespace
}  // namespace seen
