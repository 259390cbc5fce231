#include "similar/text/vocabulary.h"

#include <gtest/gtest.h>

#include "similar/port/options.h"
#include "similar/text/hash.h"

namespace seen {
namespace {

std::string Normal(std::string_view text, std::string_view lang = "zh", const TextRules& rules = {}) {
  Normaliser normaliser(rules);
  NormalText out;
  normaliser.Read({.text = text, .lang = lang}, 1 << 20, out);
  for (size_t i = 0, at = 0; i < out.runs.size(); at = out.runs[i++].end) {
    EXPECT_LT(out.runs[i].begin, out.runs[i].end) << text;
    EXPECT_LE(out.runs[i].begin - at, 1u) << text << ": at most a space is between two runs";
  }
  EXPECT_EQ(out.runs.empty() ? 0 : out.runs.back().end, out.text.size()) << text;
  return out.text;
}

TEST(Vocabulary, IsAFixedTable) {
  uint64_t sum = 0;
  for (const Vocabulary::Word& word : Vocabulary::Bundled().words()) {
    EXPECT_GE(word.from.size(), 6u) << word.from;
    EXPECT_EQ(Normal(word.from), word.to);
    EXPECT_EQ(Normal(word.to), word.to) << "folds twice";
    for (const std::string_view part : {word.from, word.to})
      for (const char byte : part) sum = Mixed(sum ^ static_cast<unsigned char>(byte));
  }
  EXPECT_EQ(kTextVersion, 5u);
  EXPECT_EQ(sum, 14820413487587549761u)
      << "the table has changed: raise kTextVersion, and keep the table before";
}

struct Case {
  std::string_view what, taiwan, mainland;
};

class SameWords : public testing::TestWithParam<Case> {};
TEST_P(SameWords, BecomeEqual) {
  EXPECT_EQ(Normal(GetParam().taiwan, "zh-TW"), Normal(GetParam().mainland, "zh-CN")) << GetParam().what;
}
constexpr Case kSame[] = {
    {"words in a sentence", "開啟檔案，列印資料庫的欄位。", "打开文件，打印数据库的字段。"},
    {"the longest word", "網際網路上的巨集程式設計", "互联网上的宏编程"},
    {"words of the mainland in Taiwan's characters", "軟件和數據庫", "软件和数据库"},
    {"a longer and a shorter word", "位元組與宏，記憶體", "字节与宏，内存"},
    {"beside Latin words and signs", "用Python程式開啟C++原始碼", "用Python程序打开C++源代码"},
    {"a word across a tag without a space", "<b>軟</b>體", "软件"},
    {"emoji beside words", "軟體😀硬體👍", "软件😀硬件👍"},
    {"emoji that don't count", "這個軟體😀要先安裝硬體👍驅動程式", "这个软件要先安装硬件驱动程序"},
    {"a mainland word in which another seems to begin", "網際網路由此開始", "互联网由此开始"},
    {"spaces, which don't count in Chinese", "請安裝軟\n體 。", "请安装软 件。"},
    {"all of a text", "軟體", "软件"},
};
INSTANTIATE_TEST_SUITE_P(Vocabulary, SameWords, testing::ValuesIn(kSame));

class DifferentWords : public testing::TestWithParam<Case> {};
TEST_P(DifferentWords, StayDifferent) {
  EXPECT_NE(Normal(GetParam().taiwan), Normal(GetParam().mainland)) << GetParam().what;
}
constexpr Case kDifferent[] = {
    {"a word across punctuation", "這是軟，體會", "这是软件会"},
    {"a process is no program", "程式", "进程"},
    {"a document is no file", "檔案", "文档"},
    {"an index is no pointer", "指標", "指针"},
    {"a core is no kernel", "核心", "内核"},
};
INSTANTIATE_TEST_SUITE_P(Vocabulary, DifferentWords, testing::ValuesIn(kDifferent));

TEST(Vocabulary, IsOfChineseAlone) {
  TextRules before;
  before.version = 3;
  EXPECT_EQ(Normal("軟體", "zh-TW", before), "软体") << "an index of older rules";
  EXPECT_EQ(Normal("軟體", "ja"), "軟體");
  EXPECT_EQ(Normal("軟體", "zh-TW", FirstTextRules()), "軟體");
}

}  // namespace
}  // namespace seen
