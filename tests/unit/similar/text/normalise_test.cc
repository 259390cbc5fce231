#include "similar/text/normalise.h"

#include <gtest/gtest.h>

#include <random>

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
    {"ASCII", "  The QUICK\tbrown-fox, v2.0\n", "the quick brown fox v2.0"},
    {"underscores and apostrophes", "snake_case don't", "snake case don t"},
    {"case of other letters", "ÀÉÎ ΑΣΟΦΟΣ Привет ŞĞ", "àéî ασοφοσ привет şğ"},
    {"sharp s folds", "Straße STRASSE", "strasse strasse"},
    {"composed as it is decomposed", "cafe\u0301 caf\u00e9", "caf\u00e9 caf\u00e9"},
    {"compatibility forms", "ﬁne ① ㎏ ½ ｆｕｌｌ１２ x²", "fine 1 kg 1 2 full12 x^2"},
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
    {"Traditional becomes Simplified", "zh-TW", "軟體開發與資料庫", "软件开发与数据库"},
    {"Simplified stays", "zh-CN", "软件开发与数据库", "软件开发与数据库"},
    {"characters that Simplified Chinese merged collide on purpose", "zh", "皇后之後 乾燥 發髮 里裡裏",
     "皇后之后干燥发发里里里"},
    {"the forms of Taiwan and Hong Kong", "zh-HK", "衞著喫簷台臺枱", "卫着吃檐台台台"},
    {"without a language the text decides: Chinese", "", "資料庫", "数据库"},
    {"an unknown language, a Chinese text", "en", "The 資料庫", "the数据库"},
    {"the languages of Chinese", "yue-Hant-HK", "資料庫", "数据库"},
    {"kana in a text that says it is Chinese", "zh", "臺灣の日本語", "台湾の日本语"},
    {"full-width forms and punctuation, as ever", "zh", "ＡＢＣ１２３，「資料」！", "abc123数据"},
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

struct Pair {
  std::string_view one, other;
};

// Before version 4 of the rules each pair was a verbatim copy.
constexpr Pair kDifferent[] = {
    {"https://youtube.com/watch?v=AAA", "https://youtube.com/watch?v=BBB"},
    {"Senior C++ developer, Berlin", "Senior C# developer, Berlin"},
    {"Dow +1.2% at noon", "Dow -1.2% at noon"},
    {"x > 5", "x < 5"},
    {"Price $5", "Price €5"},
    {"10² m", "102 m"},
    {"Price £5", "Price ¥5"},
    {"Preis 5 €", "Preis 5 $"},
    {"Price ₹500", "Price ₩500"},
    {"Price ＄5", "Price ￥5"},
    {"₿5 lost", "$5 lost"},
    {"US$5 off", "US€5 off"},
    {"5¢ a page", "5% a page"},
    {"width 10±2 mm", "width 10+2 mm"},
    {"5 ± 2", "5 + 2"},
    {"50% off", "50 off"},
    {"2% more", "2‰ more"},
    {"x ≥ 5", "x ≤ 5"},
    {"x≥5", "x≤5"},
    {"x = 5", "x ≠ 5"},
    {"x <= 5", "x >= 5"},
    {"a &lt; b", "a &gt; b"},
    {"speed < safety", "speed > safety"},
    {"temperature -5°C", "temperature 5°C"},
    {"temperature \u22125°C", "temperature +5°C"},
    {"Dow \u20131.2% at noon", "Dow 1.2% at noon"},
    {"C developer", "C# developer"},
    {"F# developer", "F developer"},
    {"C++ developer", "C developer"},
    {"C++, Java", "C, Java"},
    {"Nocturne in F♯ minor", "Nocturne in F♭ minor"},
    {"grade A+", "grade A-"},
    {"grade A+", "grade A"},
    {"blood type 0+", "blood type 0-"},
    {"1½ cups", "11/2 cups"},
    {"10½", "101/2"},
    {"m² of x²", "m2 of x2"},
    {"2³ = 8", "23 = 8"},
    {"10<sup>2</sup> m", "102 m"},
    {"Ｃ＋＋ 开发", "Ｃ＃ 开发"},
    {"涨幅+5", "涨幅-5"},
    {"涨幅＋5", "涨幅\u22125"},
    {"3 + 4", "3 × 4"},
    {"3+4", "3×4"},
    {"8÷2", "8×2"},
    {"https://e.org/a?id=1", "https://e.org/a?id=2"},
    {"https://e.org/?p=1", "https://e.org/?p=2"},
    {"https://app.e.org/#/item/1", "https://app.e.org/#/item/2"},
    {"https://mp.weixin.qq.com/s?__biz=MzA&mid=1&idx=1&sn=a",
     "https://mp.weixin.qq.com/s?__biz=MzA&mid=2&idx=1&sn=b"},
    {"https://e.org/?si=AAA", "https://e.org/?si=BBB"},
    {"https://zh.wikipedia.org/wiki/%E4%B8%AD", "https://zh.wikipedia.org/wiki/%E4%B8%AE"},
    {"https://e.org/s?q=c%2B%2B", "https://e.org/s?q=c%23"},
    {"https://news.ycombinator.com/item?id=1&amp;utm_source=x",
     "https://news.ycombinator.com/item?id=2&amp;utm_source=x"},
    {"www.e.org/x?id=1", "www.e.org/x?id=2"},
    {"气温-5度", "气温5度"},
};

TEST(Normaliser, KeepsDifferentTextsApart) {
  for (const auto& [one, other] : kDifferent) {
    EXPECT_NE(Normal(one), Normal(other)) << one;
    for (const std::string_view text : {one, other})
      EXPECT_EQ(Normal(Normal(text)), Normal(text)) << "again: " << text;
  }
}

constexpr Pair kCopies[] = {
    {"Hello, world!", "Hello world"},
    {"He said “yes”", "He said \"yes\""},
    {"'quoted'", "quoted"},
    {"a - b", "a \u2013 b"},
    {"one \u2014 two", "one -- two"},
    {"well-known", "well\u2010known"},
    {"well-known", "well known"},
    {"well\u2011known", "well\u2013known"},
    {"wait...", "wait…"},
    {"wait…", "wait"},
    {"#news of today", "news of today"},
    {"@jo said", "jo said"},
    {"2-3 days", "2\u20133 days"},
    {"1990\u20131995", "1990-1995"},
    {"Really?!", "Really"},
    {"(aside)", "aside"},
    {"Yes.", "Yes!"},
    {"**bold** move", "bold move"},
    {"it's", "it’s"},
    {"- item", "• item"},
    {"===== Title =====", "Title"},
    {"a → b", "a -> b"},
    {"-5", "\u22125"},
    {"\u20135 °C", "-5 °C"},
    {"＋5％", "+5%"},
    {"℃ 5", "°C 5"},
    {"½ cup", "1/2 cup"},
    {"1½ cups", "1 1/2 cups"},
    {"H₂O", "H2O"},
    {"10²", "10^2"},
    {"x&sup2;", "x²"},
    {"https://e.org/a?utm_source=x", "https://e.org/a"},
    {"https://e.org/a?fbclid=x&gclid=y", "https://e.org/a"},
    {"https://e.org/a?id=5&utm_medium=m", "https://e.org/a?id=5"},
    {"https://youtu.be/AAA?si=xyz", "https://youtu.be/AAA"},
    {"https://e.org/a#top", "https://e.org/a"},
    {"http://e.org/a", "https://e.org/a"},
    {"https://e.org/", "https://e.org"},
    {"&lt;p&gt;Hello&lt;/p&gt;", "<p>Hello</p>"},
    {"&amp;lt;p&amp;gt;Hello&amp;lt;/p&amp;gt;", "Hello"},
    {"a<o:p></o:p>", "a"},
    {"5%-10%", "5%\u201310%"},
    {"$5-$10", "$5\u2013$10"},
    {"C#/.NET", "C#, .NET"},
    {"C++17", "C++ 17"},
    {"取%的结果", "取 % 的結果"},
    {"鸡腿+可乐", "鸡腿 + 可乐"},
    {"涨幅+5%，价格$5", "涨幅 +5% ，价格 $5"},
};

TEST(Normaliser, TakesCopiesForCopies) {
  for (const auto& [one, other] : kCopies) EXPECT_EQ(Normal(one), Normal(other)) << one;
}

constexpr Case kSigns[] = {
    {"a sign belongs to the word that it touches", "C++, 18+, +1 and $5: AT&T", "c++ 18+ +1 and $5 at&t"},
    {"a sign between two words", "C++17 US$5 3+4 107+deb12 x>=5 R&D",
     "c++ 17 us$ 5 3+ 4 107+ deb12 x>=5 r&d"},
    {"a minus sign", "-5 to 2-3, (-7), a-8, --9, -$6, \u221210, \uff0d11", "-5 to 2 3 -7 a 8 9 -$6 -10 -11"},
    {"hyphens and dashes", "well-known - a \u2013 b -- c", "well known a b c"},
    {"hashtags and mentions", "#tag #5 @jo #话题#", "tag 5 jo话题"},
    {"sharps", "C# F#m C#开发 and ABC# C##", "c# f#m c#开发and abc c#"},
    {"ornaments", "===== a +++ b $$$ c <<< d+++", "a b c d"},
    {"more signs than any word has", "a+-+-+-+-+b", "a b"},
    {"Markdown", "**bold** _it_ `code` ~~x~~ | y", "bold it code x y"},
    {"a heading of a wiki", "==Head== text", "head text"},
    {"unknown tags", "install <package> now", "install package now"},
    {"a quoted line", "a word\n> and another", "a word and another"},
    {"an ampersand alone", "fish & chips", "fish chips"},
    {"signs alone beside a number", "5 % of 3 + 4 = x", "5 % of 3 + 4 = x"},
    {"signs alone beside none", "a + b % $ c", "a b c"},
    {"a comparison at an end", "< a >", "a"},
    {"arrows", "a \u2192 b -> c --> d", "a b c d"},
    {"full-width signs", "Ｃ＋＋ ５％ ￥６", "c++ 5% ¥6"},
    {"digits of another script", "-٣ و ٥ %", "-٣ و ٥ %"},
    {"powers", "x\u00b2\u00b3 10\u207b\u00b9 H\u2082O Cl\u207b", "x^23 10^-1 h2o cl"},
    {"an emoticon", "^_^ ok ^o^", "ok o"},
    {"a minus sign after a letter without spaces", "气温-5度 5-6度", "气温-5度5 6度"},
    {"a minus sign after a sign", "x<-5 5%-10% $5-$10 a--5", "x<-5 5% 10% $5 $10 a 5"},
    {"angle brackets in Chinese", "＜号外＞东京 <热门>话题 价>5", "号外东京热门话题价>5"},
    {"signs beside Chinese", "价格＄5的5％ A＆B", "价格$5的5% a&b"},
};
INSTANTIATE_TEST_SUITE_P(Signs, NormaliserCases, testing::ValuesIn(kSigns));

// StripMarkup leaves an ASCII text nearly as it is compared. A letter beyond ASCII takes the other way.
TEST(Normaliser, ReadsAsciiInBothWaysAlike) {
  std::mt19937_64 random(19);
  constexpr std::string_view kPieces[] = {"+",    "-",     "#",    "$",     "%",         "&",       "<",
                                          ">",    "=",     "^",    "5",     "c",         "word",    " ",
                                          "\n",   ".",     "?",    "*",     "http://x/", "~",       "<b>",
                                          "</p>", "&amp;", "&lt;", "<sup>", "&gt;",      "utm_id=", "www."};
  for (int round = 0; round < 20'000; ++round) {
    std::string text;
    for (size_t left = random() % 12; left > 0; --left) text += kPieces[random() % std::size(kPieces)];
    const std::string ascii = Normal(text);
    // The letter is a word of its own: nothing of the text touches it.
    std::string other = Normal(text + " . é");
    ASSERT_TRUE(other.ends_with("é")) << text;
    other.resize(other.size() - 2);
    if (other.ends_with(' ')) other.pop_back();
    if (other != ascii) {
      // A comparison at the end stands between two words only if the letter follows.
      ASSERT_TRUE(other.starts_with(ascii) && other.find_first_not_of("<=> ", ascii.size()) == other.npos)
          << testing::PrintToString(text) << ": " << ascii << " and " << other;
    }
  }
}

TEST(Normaliser, ReadsTextsOfEarlierVersionsAsBefore) {
  TextRules before;
  before.version = 2;
  for (const auto& [one, other] : kDifferent)
    EXPECT_EQ(Normal(one, "", before), Normal(other, "", before)) << one;
  EXPECT_EQ(Normal("Ｃ＋＋ <package> a=5 H\u00b2", "", before), "c package a 5 h2");
}

}  // namespace
}  // namespace seen
