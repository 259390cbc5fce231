#include "similar/text/folding.h"

#include <gtest/gtest.h>

#include "similar/port/options.h"
#include "similar/text/hash.h"

namespace seen {
namespace {

TEST(Folding, IsAFixedTable) {
  const FoldingTable& table = FoldingTable::Bundled();
  uint64_t sum = 0;
  size_t folded = 0;
  for (uint32_t c = 0; c < 0x40000; ++c) {
    const uint32_t to = table.Of(c);
    if (to == c) continue;
    ++folded;
    EXPECT_EQ(table.Of(to), to) << std::hex << c << " folds twice";
    sum += Mixed(uint64_t{c} << 32 | to);
  }
  EXPECT_EQ(folded, table.size());
  // An index records the version. Another table is another version, and the former table must stay.
  EXPECT_EQ(kFoldingVersion, 1u);
  EXPECT_EQ(sum, 17606270710151565196u)
      << "the table has changed: raise kFoldingVersion, and keep the table before";
}

TEST(Folding, LeavesWhatIsNoTraditionalChinese) {
  const FoldingTable& table = FoldingTable::Bundled();
  for (const uint32_t c : {uint32_t{'a'}, 0xe9u, 0x3042u, 0x30a2u, 0xac00u, 0x4e2du, 0x1f600u, 0x10ffffu})
    EXPECT_EQ(table.Of(c), c);
  EXPECT_EQ(table.Of(0x5f8c), 0x540eu);   // 後, 后
  EXPECT_EQ(table.Of(0x35f2), 0x20d7eu);  // into a plane beyond
  EXPECT_EQ(table.Of(0x540e), 0x540eu);   // one direction only
}

TEST(IsChinese, GoesByTheLanguageThenByTheText) {
  EXPECT_TRUE(IsChinese("zh-Hant-TW", "data"));
  EXPECT_TRUE(IsChinese("ZH", "の"));
  EXPECT_FALSE(IsChinese("ja", "資料"));
  EXPECT_FALSE(IsChinese("ko-KR", "資料"));
  EXPECT_TRUE(IsChinese("", "資料 and more"));
  EXPECT_TRUE(IsChinese("de", "資料"));
  EXPECT_FALSE(IsChinese("", "data"));
  EXPECT_FALSE(IsChinese("", ""));
  EXPECT_FALSE(IsChinese("", "資料の開発"));
  EXPECT_TRUE(IsChinese("", "臺北の資料庫管理系統設計")) << "one kana among eleven is an ornament";
  EXPECT_FALSE(IsChinese("", "大韓民國 한국"));
  EXPECT_TRUE(IsChinese("", "資\xff料\xe8")) << "invalid bytes count for nothing";
}

}  // namespace
}  // namespace seen
