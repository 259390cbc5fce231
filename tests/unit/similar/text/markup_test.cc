#include "similar/text/markup.h"

#include <gtest/gtest.h>

#include "similar/port/options.h"
#include "similar/text/characters.h"
#include "similar/text/markup_names.h"

namespace seen {
namespace {

// `now`: the words that version 4 leaves, if these are others.
struct Case {
  std::string_view text, plain, now = plain;
};

std::string Plain(std::string_view text, uint32_t version = kTextVersion) {
  std::string out;
  StripMarkup(text, version, out);
  return out;
}

std::string WithoutSigns(std::string_view plain) {
  std::string out;
  for (const char c : plain) {
    const bool separates = c == ' ' || kAsciiSigns.find(c) != std::string_view::npos;
    if (!separates) {
      out += c;
    } else if (!out.empty() && out.back() != ' ') {
      out += ' ';
    }
  }
  if (out.ends_with(' ')) out.pop_back();
  return out;
}

// RunWriter decides about the signs: see the tests of Normaliser.
void ExpectPlain(const Case& one) {
  EXPECT_EQ(Plain(one.text, 2), one.plain) << one.text;
  EXPECT_EQ(WithoutSigns(Plain(one.text)), WithoutSigns(one.now)) << one.text;
}

class StripMarkupCases : public testing::TestWithParam<Case> {};
TEST_P(StripMarkupCases, Strips) { ExpectPlain(GetParam()); }

constexpr Case kTags[] = {
    {"<p>One</p><p>two</p>", "one two "},
    {"H<sub>2</sub>O and <b>bold</b>ly", "h2o and boldly"},
    {"a<br/>b<BR>c<hr />d", "a b c d"},
    {"<a href=\"http://x.y/?q=a>b\" title='it'>link</a>", "link"},
    {"x<script>if (a<b) alert('hi')</script>y", "x y"},
    {"x<STYLE type=\"text/css\">p { color: red }</STYLE>y", "x y"},
    {"x<script>never closed", "x never closed"},
    {"a<!-- not this -->b<!DOCTYPE html>c<?xml version=\"1.0\"?>d", "a b c d"},
    {"<![CDATA[kept]]>", "kept "},
    {"write to <jo.doe@example.org> now", "write to jo doe example org now"},
    {"see <http://example.org/a>", "see example org a "},
    {"std::vector<int> and #include <vector>", "std vector int and include vector "},
    {"install <package> 1 < 2 > 0", "install package 1 2 0"},
    {"an open <p", "an open p"},
    {"an open <p class=\"x", "an open p class x"},
    {"<<p>b>", "b "},
    {"<blockquotes>", "blockquotes "},
    {"<", ""},
    {"a<", "a "},
    {"</", ""},
    {"<!--", ""},
    {"<!-- a", "a"},
};
INSTANTIATE_TEST_SUITE_P(Tags, StripMarkupCases, testing::ValuesIn(kTags));

constexpr Case kEntityCases[] = {
    {"fish &amp; chips &lt;b&gt; &quot;x&quot;", "fish chips b x "},
    {"caf&eacute; &Ouml;l", "caf\u00e9 \u00d6l"},
    {"it&#39;s &#65;&#x42;c", "it s abc"},
    {"&#x4e2d;&#25991;", "\u4e2d\u6587"},
    {"AT&T; R&D &unknown; &;&#;&#x;", "at t r d unknown x "},
    {"soft&shy;ly", "soft\u00adly"},
    {"&amp;amp;", "amp "},
    {"&", ""},
    {"a&amp", "a amp"},
    // Escaped twice.
    {"Don&amp;#39;t", "don 39 t", "don t"},
    {"a&amp;nbsp;b &amp;eacute;", "a nbsp b eacute ", "a\u00a0b \u00e9"},
    {"a&amp;minus;5", "a minus 5", "a\u22125"},
};

TEST(StripMarkup, DecodesEntities) {
  for (const Case& one : kEntityCases) ExpectPlain(one);
  EXPECT_EQ(Plain("&#0;a&#1114112;b&#xd800;c&#9999999;d"), "a\ufffdb\ufffdc\ufffdd");
}

TEST(StripMarkup, KnowsNamesAndNumbersOfCharacters) {
  EXPECT_EQ(EntityCodePoint("yuml", kTextVersion), 0xffu);
  EXPECT_EQ(EntityCodePoint("AElig", kTextVersion), 0xc6u);
  EXPECT_EQ(EntityCodePoint("thetasym", kTextVersion), 0x3d1u);
  EXPECT_EQ(EntityCodePoint("#X2019", kTextVersion), 0x2019u);
  EXPECT_EQ(EntityCodePoint("#12a", kTextVersion), std::nullopt);
  EXPECT_EQ(EntityCodePoint("EACUTE", kTextVersion), std::nullopt);
  EXPECT_EQ(EntityCodePoint("", kTextVersion), std::nullopt);
  EXPECT_EQ(EntityCodePoint("minus", kTextVersion), 0x2212u);
  EXPECT_EQ(EntityCodePoint("minus", 2), std::nullopt);
}

constexpr Case kUrls[] = {
    {"see https://Example.org/a/b.html?utm_source=x&y=1#top for more", "see example org a b html for more",
     "see example org a b html y 1 for more"},
    {"http://example.org/a", "example org a"},
    {"(http://example.org/a#frag). Next", "example org a next"},
    {"www.example.org/x?y=z end", "www example org x end", "www example org x y z end"},
    {"http://example.org/a%20b%E4%B8%AD", "example org a b ", "example org a b中"},
    {"ftp://h/?q=\xe4\xb8\xad\xe6\x96\x87", "h \xe4\xb8\xad\xe6\x96\x87", "h q \xe4\xb8\xad\xe6\x96\x87"},
    {"what? this # is % no url", "what this is no url"},
    {"\"http://e.org/?a\"b", "e org b", "e org a b"},
    {"<a>http://e.org/?a</a>b", "e org b", "e org ab"},
    {"12://x 4 :// y", "12 x 4 y"},
    {"time: 10:30", "time 10 30"},
    {"wwwx.y?z", "wwwx y z"},
};
INSTANTIATE_TEST_SUITE_P(Urls, StripMarkupCases, testing::ValuesIn(kUrls));

struct Newest {
  std::string_view text, plain;
};

constexpr Newest kNewest[] = {
    {"<p>one<o:p></o:p></p><v:shape id=\"x\">two</v:shape> <st1:place w:st=\"on\">Rome</st1:place>",
     "one two rome"},
    {"a<amp-img src=\"x\" width=5></amp-img>b<mp-weapp-card data-x='y'>c</mp-weapp-card>", "a b c "},
    {"a<svg width=\"5\"><path d=\"M0 0\"/><text>t</text></svg>b<svg/>c<svg></svg>", "a b c "},
    {"<math><mi>x</mi><mo>+</mo><mn>1</mn></math>", "x + 1 "},
    {"like<fb:like send=\"true\"/> it", "like it"},
    {"a<![if !vml]>b<![endif]>c", "a b c"},
    {"<file-name> <a:b> set<v::T>", "file-name a b set v t "},
    {"10<sup>2</sup> and x<sup>th</sup> m<sup>2", "10^2 and xth m^2"},
    {"]]> b <!-- c", "b -- c"},
    // Links.
    {"http://e.org/a?utm_source=a&UTM_id=b&amp;fbclid=c&id=5&gclid=d#e f", "e org a id 5 f"},
    {"http://e.org/a?id=5&utm_source=a%20b&#38;p=2&spm=x", "e org a id 5 p 2 "},
    {"http://e.org/a?utm_source", "e org a "},
    {"http://e.org/?utm_source=b http://e.org#c www.e.org/#d", "e org utm source b e org c www e org d"},
    {"http://e.org/?q=caf%C3%A9%2bbar%41", "e org q caf\u00e9+bara"},
    {"http://e.org/?a&quot;b+&nbsp;c++", "e org a b+\u00a0c++"},
    {"http://e.org/app#/item/5 http://e.org/app#!5 http://e.org/app#5",
     "e org app item 5 e org app 5 e org app "},
    {"http://e.org/a+b-5$", "e org a b 5 "},
};

TEST(StripMarkup, KnowsMoreSinceVersion4) {
  for (const auto& [text, plain] : kNewest) EXPECT_EQ(Plain(text), plain) << text;
}

constexpr Newest kEscapedTwice[] = {
    {"&lt;p&gt;Hello&lt;/p&gt;", "hello "},
    {"&amp;lt;p&amp;gt;Hello&amp;lt;/p&amp;gt;", "hello "},
    {" &lt;div class=&quot;x&quot;&gt;\n&lt;b&gt;bold&lt;/b&gt;ly &amp;amp; caf&amp;eacute;&lt;/div&gt;\n",
     "boldly & caf\u00e9 "},
    {"Read &lt;a href=&#34;http://e.org/&#34;&gt;this&lt;/a&gt;", "read this"},
    {"&lt;P&gt;one &lt;br&gt; two&lt;/P&gt;", "one two "},
    {"&lt;p&gt;Hello world", "hello world"},
    {"Line one&lt;br&gt;Line two", "line one line two"},
    {"第一行。&lt;br /&gt;Line two", "第一行。 line two"},
    // Texts about tags.
    {"use &lt;b&gt; for bold", "use b for bold"},
    {"use &lt;b&gt; and &lt;/b&gt; for bold", "use b and b for bold"},
    {"if a &lt; b and c &gt; d", "if a < b and c > d"},
    {"how to close a &lt;/div&gt;", "how to close a div "},
    {"&lt;b&gt; or &lt;strong&gt;?", "b or strong "},
    {"&lt;package&gt;x&lt;/package&gt;", "package x package "},
    {"<p>&lt;b&gt;x&lt;/b&gt;</p>", "b x b "},
    {"&lt;br&gt; breaks, &quot;&lt;br&gt;&quot; too, and (&lt;p&gt;)", "br breaks br too and p "},
    {"使用&lt;br&gt;标签", "使用 br 标签"},
};

TEST(StripMarkup, ReadsATextThatWasEscapedTwice) {
  for (const auto& [text, plain] : kEscapedTwice) EXPECT_EQ(Plain(text), plain) << text;
  EXPECT_EQ(Plain("&lt;p&gt;Hello&lt;/p&gt;", 2), "p hello p ");
}

TEST(StripMarkup, KnowsTheTagsOfEarlierVersions) {
  for (const std::string_view name : {"amp-img", "o:p", "math", "mi"}) {
    EXPECT_EQ(TagKindOf(name, 2), TagKind::kNone) << name;
    EXPECT_NE(TagKindOf(name, kTextVersion), TagKind::kNone) << name;
  }
  EXPECT_EQ(TagKindOf("svg", 2), TagKind::kBreak);
  EXPECT_EQ(Plain("a<o:p>b<![if x]>c", 2), "a o p b if x c");
}

TEST(StripMarkup, DropsControlsAndSaysWhetherThereIsMoreThanAscii) {
  using std::string_view_literals::operator""sv;
  std::string out;
  EXPECT_FALSE(StripMarkup("a\0b\x1f\x7f"sv, kTextVersion, out));
  EXPECT_EQ(out, "ab");
  EXPECT_TRUE(StripMarkup("\xc3\xa9", kTextVersion, out));
  EXPECT_EQ(out, "ab\xc3\xa9");
  out.clear();
  EXPECT_TRUE(StripMarkup("&eacute;", kTextVersion, out));
  EXPECT_FALSE(StripMarkup("&amp;", kTextVersion, out));
}

TEST(StripMarkup, TakesLinearTimeForTextsOfHalfTags) {
  for (const std::string_view part :
       {"<a b=\"", "<a b='\"<a b=\"'", "<!--", "<script>", "<p ", "&", "http://", "<",
        "http://x/a?utm_a=", "&utm_id", "$-5", "&lt;/p", "&amp;lt;/a&gt; "}) {
    std::string text;
    while (text.size() < 200'000) text += part;
    std::string out;
    StripMarkup(text, kTextVersion, out);  // in quadratic time this takes minutes
    EXPECT_LE(out.size(), text.size());
  }
}

}  // namespace
}  // namespace seen
