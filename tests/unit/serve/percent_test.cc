#include <gtest/gtest.h>

#include "base/text.h"
#include "serve/request_input.h"

namespace seen {
namespace {

using namespace std::string_literals;

TEST(PercentDecoding, TakesWhatPathsMayHold) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", ""},
      {"u1", "u1"},
      {"u%2F1", "u/1"},
      {"u%2f1", "u/1"},
      {"100%25", "100%"},
      {"%2525", "%25"},  // decoded only once
      {"a+b", "a+b"},
      {"%00", "\0"s},
      {"%E7%94%A8%E6%88%B7", "用户"},
      {"用户", "用户"},
      {"%F0%9F%98%80", "\xF0\x9F\x98\x80"},
  };
  for (const auto& [encoded, decoded] : cases) {
    const auto result = DecodePathSegment(encoded);
    ASSERT_TRUE(result) << encoded << ": " << result.error().message;
    EXPECT_EQ(*result, decoded) << encoded;
  }
}

TEST(PercentDecoding, RefusesBadEscapesAndWhatIsNotUtf8) {
  for (const std::string bad :
       {"%", "%2", "a%", "%zz", "%2g", "%%20", "a#b", "%ff", "%C3", "%ED%A0%80", "%C0%80"}) {
    const auto result = DecodePathSegment(bad);
    ASSERT_FALSE(result) << bad;
    EXPECT_EQ(result.error().code, Code::kInvalidArgument);
  }
}

TEST(Utf8, FollowsTheUnicodeTable) {
  for (const std::string good : {"", "a", "\x7f", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF",
                                 "\xEE\x80\x80", "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(IsUtf8(good)) << testing::PrintToString(good);
  }
  for (const std::string bad : {"\x80", "\xBF", "\xC0\xAF", "\xC1\xBF", "\xC2", "\xC2\x41", "\xE0\x9F\xBF",
                                "\xE2\x82", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
                                "\xF0\x9F\x98", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFE", "\xFF"}) {
    EXPECT_FALSE(IsUtf8(bad)) << testing::PrintToString(bad);
    EXPECT_FALSE(IsUtf8("a" + bad)) << testing::PrintToString(bad);
    EXPECT_FALSE(IsUtf8(bad + "a")) << testing::PrintToString(bad);
  }
}

}  // namespace
}  // namespace seen
