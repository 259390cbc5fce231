#include <gtest/gtest.h>

#include "query/user_history.h"

namespace seen {
namespace {

TEST(ListCursor, ComesBackForItsOwnQuestionOnly) {
  for (const ListCursor cursor : {ListCursor{{{1'763'700'000'123}, 17}, 3}, ListCursor{{{0}, 0}, 0},
                                  ListCursor{{{4'294'967'295'999}, INT64_MAX - 1}, UINT32_MAX}}) {
    const std::string text = EncodeCursor(cursor, "home/u1/all");
    EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos) << text;
    const auto decoded = DecodeCursor(text, "home/u1/all");
    ASSERT_TRUE(decoded) << decoded.error().message;
    EXPECT_EQ(*decoded, cursor);
    EXPECT_FALSE(DecodeCursor(text, "home/u2/all"));
  }
}

TEST(ListCursor, RefusesWhatWasNotGiven) {
  const std::string text = EncodeCursor({{{1'763'700'000'123}, 17}, 3}, "q");
  for (size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = other[i] == '0' ? '1' : '0';
    const auto decoded = DecodeCursor(other, "q");
    ASSERT_FALSE(decoded) << other;
    EXPECT_EQ(decoded.error().code, Code::kInvalidArgument);
  }
  for (const std::string& other : {std::string(), text + "0", text.substr(1), std::string(48, 'g')}) {
    EXPECT_FALSE(DecodeCursor(other, "q")) << other;
  }
  // These cursors are well formed, but this program never makes them. Decoding must not overflow.
  EXPECT_FALSE(DecodeCursor(EncodeCursor({{{1}, INT64_MAX}, 0}, "q"), "q"));
  EXPECT_FALSE(DecodeCursor(EncodeCursor({{{-1}, 1}, 0}, "q"), "q"));
}

}  // namespace
}  // namespace seen
