#include "serve/tokens.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

const std::string kRead = "0123456789abcdef";
const std::string kAdmin = "fedcba9876543210";

TEST(TokenTable, FindsTheHolderOfATokenAndNobodyElse) {
  const auto table = TokenTable::Parse("# all\n\n read\trecall  " + kRead + "\r\nadmin ops " + kAdmin);
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(table->size(), 2U);
  ASSERT_NE(table->Find(kRead), nullptr);
  EXPECT_EQ(table->Find(kRead)->name, "recall");
  EXPECT_EQ(table->Find(kRead)->role, Role::kRead);
  EXPECT_EQ(table->Find(kAdmin)->role, Role::kAdmin);
  for (const std::string& other : {std::string(), kRead + "0", kRead.substr(1), std::string("recall")}) {
    EXPECT_EQ(table->Find(other), nullptr) << other;
  }
}

TEST(TokenTable, RolesAreInOrder) {
  EXPECT_LT(Role::kNone, Role::kRead);
  EXPECT_LT(Role::kRead, Role::kWrite);
  EXPECT_LT(Role::kWrite, Role::kAdmin);
}

TEST(TokenTable, LetsANameHaveSeveralTokens) {
  const auto table = TokenTable::Parse("read recall " + kRead + "\nread recall " + kAdmin);
  ASSERT_TRUE(table);
  EXPECT_EQ(table->Find(kRead)->name, table->Find(kAdmin)->name);
}

TEST(TokenTable, NamesTheLineThatIsWrongAndNotTheToken) {
  const std::pair<std::string, std::string> cases[] = {
      {"", "there is no token"},
      {"# none\n", "there is no token"},
      {"read recall", "line 1: the token must be"},
      {"read", "line 1: the name must be"},
      {"Read recall " + kRead, "line 1: the role must be"},
      {"\nread recall " + kRead.substr(1), "line 2: the token must be"},
      {"read recall " + std::string(257, 'x'), "line 1: the token must be"},
      {"read re,call " + kRead, "line 1: the name must be"},
      {"read recall " + kRead + " x", "line 1: there is a fourth word"},
      {"read a " + kRead + "\nwrite b " + kRead, "line 2: another line has the same token"},
  };
  for (const auto& [text, said] : cases) {
    const auto table = TokenTable::Parse(text);
    ASSERT_FALSE(table) << text;
    EXPECT_NE(table.error().message.find(said), std::string::npos) << table.error().message;
    EXPECT_EQ(table.error().message.find(kRead.substr(1)), std::string::npos);
  }
}

TEST(EqualSecrets, AreTheSameToTheLastByte) {
  EXPECT_TRUE(EqualSecrets("", ""));
  EXPECT_TRUE(EqualSecrets("abc", "abc"));
  for (const char* other : {"", "ab", "abd", "abcd"}) EXPECT_FALSE(EqualSecrets("abc", other)) << other;
}

}  // namespace
}  // namespace seen
