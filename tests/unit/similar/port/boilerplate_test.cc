#include "similar/port/boilerplate.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

std::string Stripped(std::vector<std::string> patterns, std::string_view text) {
  const auto boilerplate = Boilerplate::Compile(std::move(patterns));
  EXPECT_TRUE(boilerplate) << boilerplate.error().message;
  std::string buffer;
  return std::string((*boilerplate)->Strip(text, buffer));
}

std::string Refusal(std::vector<std::string> patterns) {
  const auto boilerplate = Boilerplate::Compile(std::move(patterns));
  EXPECT_FALSE(boilerplate);
  return boilerplate ? "" : boilerplate.error().message;
}

TEST(Boilerplate, TakesOutEveryMatchOfEveryPattern) {
  EXPECT_EQ(Stripped({"ab"}, "abxabyab"), " x y ");
  EXPECT_EQ(Stripped({"ab", " x "}, "abxaby"), " y") << "in their order, each on the result before";
  EXPECT_EQ(Stripped({"(?m)^转载自.*$"}, "转载自：某网\n正文\n转载自某人"), " \n正文\n ");
  EXPECT_EQ(Stripped({"点击阅读原文"}, "正文"), "正文");
  EXPECT_EQ(Stripped({"#[^#\\s]+#?"}, "看 #话题# 和 #another"), "看   和  ");
  EXPECT_EQ(Stripped({"a"}, ""), "");
  EXPECT_EQ(Stripped({"\\bab"}, "ab ab"), "   ");
}

TEST(Boilerplate, ReadsHostileTextsInLinearTime) {
  std::string text(1 << 20, 'a');
  EXPECT_EQ(Stripped({"(a+)+b"}, text), text);
  EXPECT_EQ(Stripped({"x"}, std::string("\xff\xfe x \xe4\xb8", 7)), std::string("\xff\xfe   \xe4\xb8", 7));
}

TEST(Boilerplate, SaysWhatIsWrongWithAPattern) {
  EXPECT_EQ(Refusal({"ok", "a(b"}),
            "pattern 2, \"a(b\": not a pattern of RE2: missing ): a(b. Remedy: correct it, or leave it out");
  EXPECT_EQ(Refusal({"a*"}),
            "pattern 1, \"a*\": matches an empty text. Remedy: make it need at least one character");
  EXPECT_NE(Refusal({std::string(513, 'a')}).find("longer than 512 bytes"), std::string::npos);
  EXPECT_NE(Refusal({"a\tb"}).find("control character"), std::string::npos);
  EXPECT_EQ(Refusal(std::vector<std::string>(33, "a")), "33 patterns, at most 32. Remedy: join some by |");
  const auto none = Boilerplate::Compile({});
  ASSERT_TRUE(none);
  EXPECT_EQ(*none, nullptr);
}

}  // namespace
}  // namespace seen
