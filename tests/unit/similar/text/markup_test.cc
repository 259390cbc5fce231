#include "similar/text/markup.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

struct Case {
  std::string_view text, plain;
};

std::string Plain(std::string_view text) {
  std::string out;
  StripMarkup(text, out);
  return out;
}

class StripMarkupCases : public testing::TestWithParam<Case> {};
TEST_P(StripMarkupCases, Strips) { EXPECT_EQ(Plain(GetParam().text), GetParam().plain) << GetParam().text; }

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
};

TEST(StripMarkup, DecodesEntities) {
  for (const auto& [text, plain] : kEntityCases) {
    EXPECT_EQ(Plain(text), plain) << text;
  }
  EXPECT_EQ(Plain("&#0;a&#1114112;b&#xd800;c&#9999999;d"), "a\ufffdb\ufffdc\ufffdd");
}

TEST(StripMarkup, KnowsNamesAndNumbersOfCharacters) {
  EXPECT_EQ(EntityCodePoint("yuml"), 0xffu);
  EXPECT_EQ(EntityCodePoint("AElig"), 0xc6u);
  EXPECT_EQ(EntityCodePoint("thetasym"), 0x3d1u);
  EXPECT_EQ(EntityCodePoint("#X2019"), 0x2019u);
  EXPECT_EQ(EntityCodePoint("#12a"), std::nullopt);
  EXPECT_EQ(EntityCodePoint("EACUTE"), std::nullopt);
  EXPECT_EQ(EntityCodePoint(""), std::nullopt);
}

constexpr Case kUrls[] = {
    {"see https://Example.org/a/b.html?utm_source=x&y=1#top for more", "see example org a b html for more"},
    {"http://example.org/a", "example org a"},
    {"(http://example.org/a#frag). Next", "example org a next"},
    {"www.example.org/x?y=z end", "www example org x end"},
    {"http://example.org/a%20b%E4%B8%AD", "example org a b "},
    {"ftp://h/?q=\xe4\xb8\xad\xe6\x96\x87", "h \xe4\xb8\xad\xe6\x96\x87"},
    {"what? this # is % no url", "what this is no url"},
    {"\"http://e.org/?a\"b", "e org b"},
    {"<a>http://e.org/?a</a>b", "e org b"},
    {"12://x 4 :// y", "12 x 4 y"},
    {"time: 10:30", "time 10 30"},
    {"wwwx.y?z", "wwwx y z"},
};
INSTANTIATE_TEST_SUITE_P(Urls, StripMarkupCases, testing::ValuesIn(kUrls));

TEST(StripMarkup, DropsControlsAndSaysWhetherThereIsMoreThanAscii) {
  using std::string_view_literals::operator""sv;
  std::string out;
  EXPECT_FALSE(StripMarkup("a\0b\x1f\x7f"sv, out));
  EXPECT_EQ(out, "ab");
  EXPECT_TRUE(StripMarkup("\xc3\xa9", out));
  EXPECT_EQ(out, "ab\xc3\xa9");
  out.clear();
  EXPECT_TRUE(StripMarkup("&eacute;", out));
  EXPECT_FALSE(StripMarkup("&amp;", out));
}

TEST(StripMarkup, TakesLinearTimeForTextsOfHalfTags) {
  for (const std::string_view part :
       {"<a b=\"", "<a b='\"<a b=\"'", "<!--", "<script>", "<p ", "&", "http://", "<"}) {
    std::string text;
    while (text.size() < 200'000) text += part;
    std::string out;
    StripMarkup(text, out);  // in quadratic time this takes minutes
    EXPECT_LE(out.size(), text.size());
  }
}

}  // namespace
}  // namespace seen
