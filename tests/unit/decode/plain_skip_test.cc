#include <gtest/gtest.h>

#include <random>
#include <string>

#include "decode/json_document.h"
#include "decode/plain_scanner.h"

namespace seen {
namespace {

/// How many bytes SkipPlainValue skips; npos: it refuses the value.
size_t Skipped(const std::string& text) {
  const PlainSkipped skipped = SkipPlainValue(text.data(), text.data() + text.size());
  return skipped.end ? static_cast<size_t>(skipped.end - text.data()) : std::string::npos;
}

TEST(PlainSkip, TakesAValueAndNoMore) {
  for (const std::string value :
       {"{}", "[]", "[1,[2,{}],[]]", R"({"a":{"b":[{"c":null}]},"d":true})", R"("\"\\\/\b\f\n\r\t\u00e9")",
        "0", "-0", "0.5", "-12.25", "123456789012345678", "1e5", "1.5E-33", "0.30000000000000004000", "false",
        R"({ "a" : [ 1 , 2 ] })", R"("曝光")", R"({"a":1,"a":2})", R"({"":""})"}) {
    EXPECT_EQ(Skipped(value + ",1"), value.size()) << value;
    EXPECT_EQ(Skipped(" \t\r\n" + value + "}"), value.size() + 4) << value;
  }
  const std::string text = R"(["a","é"])";
  EXPECT_TRUE(SkipPlainValue(text.data(), text.data() + text.size()).beyond_ascii);
}

TEST(PlainSkip, LeavesWhatIsWrongOrReadersDifferIn) {
  for (const std::string value : {"",
                                  "{",
                                  "[",
                                  "[1",
                                  "[1,",
                                  "[1,]",
                                  "[,1]",
                                  "{,}",
                                  R"({"a"})",
                                  R"({"a":})",
                                  R"({"a":1,})",
                                  "{1:2}",
                                  "]",
                                  "}",
                                  "[}",
                                  "{]",
                                  R"({"a":1])",
                                  R"(["a":1])",
                                  R"("a)",
                                  R"("\x")",
                                  R"("\u12g4")",
                                  R"("\ud83d\ude00")",
                                  R"("\uDC00")",
                                  R"("\)",
                                  "\"\t\"",
                                  "tru",
                                  "nul",
                                  "01",
                                  "-",
                                  "1.",
                                  ".5",
                                  "1e",
                                  "1e+",
                                  "1.e1",
                                  "1e100",
                                  "+1",
                                  "1234567890123456789",
                                  "1234567890123456789.5",
                                  "NaN",
                                  "\"\\\0\""}) {
    EXPECT_EQ(Skipped(value), std::string::npos) << value;
  }
}

TEST(PlainSkip, GoesThirtyTwoLevelsDeep) {
  const auto nested = [](size_t levels) { return std::string(levels, '[') + std::string(levels, ']'); };
  EXPECT_EQ(Skipped(nested(32)), 64u);
  EXPECT_EQ(Skipped(nested(33)), std::string::npos);
}

// A whole JSON parser must accept every text that SkipPlainValue skips.
TEST(PlainSkip, TakesNothingThatIsNoJson) {
  std::mt19937_64 random(7);
  const std::vector<std::string> pieces = {
      "e+5",  "E99",           "{", "}",     "[",  "]", ",", ":", R"("a")", "1", "0.5", "-", "null",
      "true", R"("\n\u0041")", " ", "\"é\"", "\\", "0", "\""};
  JsonDocument document(1 << 20);
  size_t taken = 0;
  for (int round = 0; round < 300'000; ++round) {
    std::string text;
    for (size_t i = random() % 9 + 1; i > 0; --i) text += pieces[random() % pieces.size()];
    if (Skipped(text) != text.size()) continue;
    ++taken;
    EXPECT_TRUE(document.ParseObject(R"({"x":)" + text + "}").has_value()) << text;
  }
  EXPECT_GT(taken, 1'000u);
}

}  // namespace
}  // namespace seen
