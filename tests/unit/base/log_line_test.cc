#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/log.h"

namespace seen::log {
namespace {

constexpr TimeMs kTime{1'763'719'440'123};  // 2025-11-21T10:04:00.123Z

TEST(FormatLine, WritesTextAsThePhraseAndItsFields) {
  EXPECT_EQ(FormatLine(kTime, Level::kInfo, Format::kText, "partition opened",
                       {{"partition", 3}, {"offset", int64_t{17}}, {"rate", 0.5}, {"ready", true}}),
            "2025-11-21T10:04:00.123Z info partition opened partition=3 offset=17 rate=0.5 ready=true");
}

TEST(FormatLine, WritesJsonAsOneObject) {
  EXPECT_EQ(FormatLine(kTime, Level::kError, Format::kJson, "partition opened",
                       {{"partition", 3}, {"reason", "disk full"}, {"rate", 0.5}, {"ready", false}}),
            R"({"time":"2025-11-21T10:04:00.123Z","level":"error","event":"partition opened",)"
            R"("partition":3,"reason":"disk full","rate":0.5,"ready":false})");
}

TEST(TimeText, HoldsFromTheFirstDayOfTheEpochToLeapDays) {
  EXPECT_EQ(TimeText({0}), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(TimeText({-1}), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(TimeText({1'709'164'800'000}), "2024-02-29T00:00:00.000Z");
}

struct StringCase {
  const char* name;
  std::string_view value;
  std::string_view text;
  std::string_view json;
};

class LogStrings : public testing::TestWithParam<StringCase> {};

TEST_P(LogStrings, AreEscapedForTheirFormat) {
  const StringCase& c = GetParam();
  const std::string text = FormatLine(kTime, Level::kWarning, Format::kText, "e", {{"v", c.value}});
  const std::string json = FormatLine(kTime, Level::kWarning, Format::kJson, "e", {{"v", c.value}});
  EXPECT_EQ(text.substr(text.find("v=") + 2), c.text);
  const size_t start = json.find("\"v\":") + 4;
  EXPECT_EQ(json.substr(start, json.size() - start - 1), c.json);
}

using namespace std::string_view_literals;

INSTANTIATE_TEST_SUITE_P(
    Table, LogStrings,
    testing::Values(StringCase{"Plain", "abc", "abc", R"("abc")"}, StringCase{"Empty", "", R"("")", R"("")"},
                    StringCase{"Space", "a b", R"("a b")", R"("a b")"},
                    StringCase{"Quote", "a\"b", R"("a\"b")", R"("a\"b")"},
                    StringCase{"Backslash", "a\\b", R"("a\\b")", R"("a\\b")"},
                    StringCase{"Equals", "a=b", R"("a=b")", R"("a=b")"},
                    StringCase{"Newline", "a\nb\r\t", R"("a\nb\r\t")", R"("a\nb\r\t")"},
                    StringCase{"Null", "a\0b"sv, R"("a\x00b")", R"("a\u0000b")"},
                    StringCase{"Escape", "\x1b[31m", R"("\x1b[31m")", R"("\u001b[31m")"},
                    StringCase{"Delete", "\x7f", R"("\x7f")", R"("\u007f")"},
                    StringCase{"Chinese", "曝光", "曝光", R"("曝光")"},
                    StringCase{"Emoji", "\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\""},
                    StringCase{"LoneByte", "a\xFFz", R"("a\xffz")", R"("a\ufffdz")"},
                    StringCase{"Truncated", "\xE6\x9B", R"("\xe6\x9b")", R"("\ufffd\ufffd")"},
                    StringCase{"Overlong", "\xC0\x80", R"("\xc0\x80")", R"("\ufffd\ufffd")"},
                    StringCase{"Surrogate", "\xED\xA0\x80", R"("\xed\xa0\x80")", R"("\ufffd\ufffd\ufffd")"},
                    StringCase{"BeyondUnicode", "\xF4\x90\x80\x80", R"("\xf4\x90\x80\x80")",
                               R"("\ufffd\ufffd\ufffd\ufffd")"}),
    [](const auto& each) { return each.param.name; });

TEST(FormatLine, WritesNumbersJsonHasNoWordForAsNull) {
  EXPECT_TRUE(
      FormatLine(kTime, Level::kInfo, Format::kJson, "e", {{"v", std::nan("")}}).ends_with(R"("v":null})"));
  EXPECT_TRUE(
      FormatLine(kTime, Level::kInfo, Format::kJson, "e", {{"v", std::numeric_limits<double>::infinity()}})
          .ends_with(R"("v":null})"));
}

TEST(FormatLine, KeepsTheWholeRangeOfIntegers) {
  EXPECT_TRUE(FormatLine(kTime, Level::kInfo, Format::kJson, "e",
                         {{"low", std::numeric_limits<int64_t>::min()},
                          {"high", std::numeric_limits<uint64_t>::max()}})
                  .ends_with(R"("low":-9223372036854775808,"high":18446744073709551615})"));
}

TEST(Write, LeavesOutWhatIsBelowTheLevelAndWritesTheRestToStandardError) {
  Configure(Level::kWarning, Format::kJson);
  testing::internal::CaptureStderr();
  Info("not written");
  Warning("written", {{"n", 1}});
  const std::string written = testing::internal::GetCapturedStderr();
  Configure(Level::kInfo, Format::kText);
  EXPECT_EQ(written.find("not written"), std::string::npos);
  EXPECT_TRUE(written.ends_with("\"level\":\"warning\",\"event\":\"written\",\"n\":1}\n")) << written;
}

}  // namespace
}  // namespace seen::log
