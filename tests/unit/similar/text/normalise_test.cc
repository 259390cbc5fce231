#include "similar/text/normalise.h"

#include <gtest/gtest.h>

#include "similar/port/boilerplate.h"

namespace seen {
namespace {

std::string Normal(std::string_view text, std::string_view lang = "", const TextRules& rules = {}) {
  Normaliser normaliser(rules);
  NormalText out;
  normaliser.Read({.text = text, .lang = lang}, 1 << 20, out);
  return out.text;
}

struct Case {
  std::string_view what, text, normal;
};

class NormaliserCases : public testing::TestWithParam<Case> {};
TEST_P(NormaliserCases, Normalises) {
  EXPECT_EQ(Normal(GetParam().text), GetParam().normal) << GetParam().what;
  EXPECT_EQ(Normal(GetParam().normal), GetParam().normal) << "again: " << GetParam().what;
}

constexpr Case kCases[] = {
    {"ASCII", "  The QUICK\tbrown-fox, v2.0\n", "the quick brown fox v2 0"},
    {"underscores and apostrophes", "snake_case don't", "snake case don t"},
    {"case of other letters", "ÀÉÎ ΑΣΟΦΟΣ Привет ŞĞ", "àéî ασοφοσ привет şğ"},
    {"sharp s folds", "Straße STRASSE", "strasse strasse"},
    {"composed as it is decomposed", "cafe\u0301 caf\u00e9", "caf\u00e9 caf\u00e9"},
    {"compatibility forms", "ﬁne ① ㎏ ½ ｆｕｌｌ１２ x²", "fine 1 kg 1 2 full12 x2"},
    {"half-width kana", "ｶﾞｷﾞ", "ガギ"},
    {"typographic punctuation", "“quoted” — it’s… ‹x›", "quoted it s x"},
    {"full-width punctuation", "你好，世界！（中文）", "你好世界中文"},
    {"scripts change without a space", "iPhone手机 3台 版本v2", "iphone手机3台版本v2"},
    {"spaces in Chinese don't count", "中 国\n人\u3000民", "中国人民"},
    {"zero-width characters", "in\u200bvis\u200dib\ufeffle\u2060\u00ad", "invisible"},
    {"bidi controls", "\u202eright\u202c \u2067x\u2069 \u200fy\u061c", "right x y"},
    {"right to left", "שָׁלוֹם، مرحبا", "שָׁלוֹם مرحبا"},
    {"C1 controls", "a\u0085b\u0080c", "a bc"},
    {"stacked marks", "z\u0351\u0343\u0310\u0301a\u0300\u0301\u0302\u0303\u0304lgo", "zalgo"},
    {"a mark that makes no letter", "за\u0301мок x\u0336y", "замок xy"},
    {"three marks make a letter, whose iota folds to one", "α\u0313\u0300\u0345", "ἂι"},
    {"a mark with nothing below", "\u0301 a", "a"},
    {"Vietnamese", "Tiê\u0301ng Việt", "tiếng việt"},
    {"Hindi keeps its marks", "हिन्दी", "हिन्दी"},
    {"emoji", "hi😂😂 👍🏽!", "hi😂😂👍"},
    {"emoji of several", "👩\u200d👧 ❤\ufe0f 1\ufe0f\u20e3", "👩👧❤1"},
    {"flags", "🇩🇪", "🇩🇪"},
    {"ornaments", "★ → • © ™ ■ €", "tm"},
    {"beyond the basic plane", "𝐁𝐨𝐥𝐝 𠀀 𐐀", "bold𠀀𐐨"},
    {"Hangul by its letters", "\u1112\u1161\u11ab국어", "한국어"},
    {"private and unassigned", "a\ue000b\u0378c", "a b c"},
    {"nothing", "", ""},
    {"only punctuation", "?! ... <p></p>", ""},
};
INSTANTIATE_TEST_SUITE_P(Characters, NormaliserCases, testing::ValuesIn(kCases));

struct Bytes {
  std::string_view text, normal;
};

TEST(Normaliser, TakesInvalidUtf8ForASeparator) {
  using std::string_view_literals::operator""sv;
  constexpr Bytes kInvalid[] = {
      {"caf\xe9 ol\xc3"sv, "caf ol"},  {"a\x80z"sv, "a z"},
      {"a\xc0\xafz"sv, "a z"},          // overlong "/"
      {"a\xed\xa0\x80z"sv, "a z"},      // a surrogate
      {"a\xf4\x90\x80\x80z"sv, "a z"},  // beyond U+10FFFF
      {"a\xf0\x9f\x98z"sv, "a z"},      // cut
      {"\xff\xfe\xfd"sv, ""},          {"\xe4\xb8\xad\xe4\xb8"sv, "\xe4\xb8\xad"},
      {"e\xff\xcc\x81z"sv, "e z"},  // a mark without a letter below it
  };
  for (const auto& [text, normal] : kInvalid) EXPECT_EQ(Normal(text), normal) << testing::PrintToString(text);
}

TEST(Normaliser, MakesRunsByScript) {
  Normaliser normaliser;
  NormalText out;
  normaliser.Read({.title = "My title", .text = "iPhone手机😂 ok"}, 1000, out);
  std::string runs;
  for (const auto& run : out.runs) {
    runs += out.text.substr(run.begin, run.end - run.begin);
    runs += "wds"[static_cast<size_t>(run.kind)];
    runs += '|';
  }
  EXPECT_EQ(runs, "myw|titlew|iphonew|手机d|😂s|okw|");
  EXPECT_EQ(out.text, "my title iphone手机😂ok");
  normaliser.Read({.text = "a"}, 1000, out);
  EXPECT_EQ(out.runs.size(), 1u) << "begins again";
}

TEST(Normaliser, CutsAtACharacterAndSaysSo) {
  Normaliser normaliser;
  NormalText out;
  const auto read = [&](std::string_view title, std::string_view text, size_t bytes_max) {
    normaliser.Read({.title = title, .text = text}, bytes_max, out);
    return out.text + (out.cut ? " CUT" : "");
  };
  EXPECT_EQ(read("ab", "cd", 4), "ab cd");
  EXPECT_EQ(read("ab", "cd", 3), "ab c CUT");
  EXPECT_EQ(read("ab", "cd", 2), "ab CUT");
  EXPECT_EQ(read("ab", "cd", 1), "a CUT");
  EXPECT_EQ(read("ab", "", 2), "ab");
  EXPECT_EQ(read("", "中文", 5), "中 CUT");
  EXPECT_EQ(read("", "中文", 6), "中文");
  EXPECT_EQ(read("", "a😂", 4), "a CUT");
  EXPECT_EQ(read("", "\x80\x80\x80\x80\x80\x80", 5), " CUT");
}

TEST(Normaliser, TakesNoLongerForPilesOfMarks) {
  // A letter, then marks. Each mark is of another class than the one before, so normalisation sorts them.
  std::string text = "a";
  while (text.size() < 200'000) text += "\u05b0\u064b\u0e38\u0f71";
  EXPECT_LT(Normal(text).size(), 100u);
  text = "b";
  while (text.size() < 200'000) text += "\u0316\u0301";
  EXPECT_EQ(Normal(text), "b");
}

struct Folded {
  std::string_view what, lang, text, normal;
};

constexpr Folded kFolded[] = {
    {"Traditional becomes Simplified", "zh-TW", "軟體開發與資料庫", "软体开发与资料库"},
    {"Simplified stays", "zh-CN", "软件开发与数据库", "软件开发与数据库"},
    {"characters that Simplified Chinese merged collide on purpose", "zh", "皇后之後 乾燥 發髮 里裡裏",
     "皇后之后干燥发发里里里"},
    {"the forms of Taiwan and Hong Kong", "zh-HK", "衞著喫簷台臺枱", "卫着吃檐台台台"},
    {"without a language the text decides: Chinese", "", "資料庫", "资料库"},
    {"an unknown language, a Chinese text", "en", "The 資料庫", "the资料库"},
    {"the languages of Chinese", "yue-Hant-HK", "資料庫", "资料库"},
    {"kana in a text that says it is Chinese", "zh", "臺灣の日本語", "台湾の日本语"},
    {"full-width forms and punctuation, as ever", "zh", "ＡＢＣ１２３，「資料」！", "abc123资料"},
    {"Japanese by its language", "ja", "資料の開発、学校の後", "資料の開発学校の後"},
    {"Japanese by its language, without kana", "ja-JP", "東京大學", "東京大學"},
    {"Japanese by its kana", "", "データベースの開発と資料の後", "データベースの開発と資料の後"},
    {"Korean by its language", "ko", "資料 개발", "資料개발"},
    {"Korean by its Hangul", "", "한국어 資料", "한국어資料"},
    {"a rare character beyond the basic plane", "zh", "\u35f2", "\U00020d7e"},
};

TEST(Normaliser, FoldsChineseOnly) {
  for (const auto& [what, lang, text, normal] : kFolded) {
    EXPECT_EQ(Normal(text, lang), normal) << what;
    EXPECT_EQ(Normal(normal, lang), normal) << "again: " << what;
  }
  EXPECT_EQ(Normal("資料庫", "zh", FirstTextRules()), "資料庫") << "an index of the first rules";
}

TEST(Normaliser, DropsEmojiFromATextOfSomeWords) {
  EXPECT_EQ(Normal("我们😀使用软件🎉🎉管理文件👍🏽"), "我们使用软件管理文件");
  EXPECT_EQ(Normal("one two 😀three four five six😀seven eight"), "one two three four five six seven eight");
  EXPECT_EQ(Normal("one two three four five six seven 👍"), "one two three four five six seven👍")
      << "in a few words they may say everything";
  EXPECT_EQ(Normal("我们😀使用软件管理文件", "", FirstTextRules()), "我们😀使用软件管理文件");
}

TEST(Normaliser, TakesOutBoilerplateBeforeMarkup) {
  TextRules rules;
  rules.boilerplate = *Boilerplate::Compile({"转载自[^<\\n]*", "#[^#\\s]+#?"});
  EXPECT_EQ(Normal("<p>转载自：某某网</p>软件 #热门话题# 管理", "zh", rules), "软件管理");
  EXPECT_EQ(Normal("软件管理", "zh", rules), "软件管理");
}

}  // namespace
}  // namespace seen
