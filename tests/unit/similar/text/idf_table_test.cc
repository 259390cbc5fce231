#include "similar/text/idf_table.h"

#include <gtest/gtest.h>

#include <cmath>

#include "similar/text/hash.h"

namespace seen {
namespace {

std::shared_ptr<const IdfTable> Parsed(std::string_view text) {
  auto table = IdfTable::Parse(text);
  EXPECT_TRUE(table.has_value()) << table.error().message;
  return table.has_value() ? *table : nullptr;
}

TEST(IdfTable, WeighsWordsByHowRareTheyAre) {
  const auto table = Parsed("# documents 999\n# a comment\nthe\t999\r\ncat\t9\n\n的\t99\nnone\t0");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->documents(), 999u);
  EXPECT_EQ(table->words(), 4u);
  EXPECT_DOUBLE_EQ(table->Weight(TokenHash("the")), 1);
  EXPECT_NEAR(table->Weight(TokenHash("cat")), std::log(100) + 1, 1e-4);
  EXPECT_NEAR(table->Weight(TokenHash("的")), std::log(10) + 1, 1e-4);
  EXPECT_NEAR(table->Weight(TokenHash("unheard")), std::log(1000) + 1, 1e-4);
  EXPECT_EQ(table->Weight(TokenHash("unheard")), table->Weight(TokenHash("none")));
}

TEST(IdfTable, HasAVersionOfItsContentAlone) {
  const auto version = [](std::string_view text) { return Parsed(text)->version(); };
  const uint64_t one = version("# documents 9\na\t1\nb\t2\n");
  EXPECT_EQ(one, version("# documents 9\n# note\nb\t2\na\t1"));
  EXPECT_NE(one, version("# documents 9\na\t2\nb\t1\n"));
  EXPECT_NE(one, version("# documents 8\na\t1\nb\t2\n"));
  EXPECT_NE(one, version("# documents 9\na\t1\n"));
}

TEST(IdfTable, NamesLineFieldValueAndRemedyOfWhatIsWrong) {
  struct Case {
    std::string_view text, message;
  };
  constexpr Case kCases[] = {
      {"", "line 1: documents: missing; begin the table with a line \"# documents N\""},
      {"# note\nthe\t1\n", "line 2: documents: missing; begin the table with a line \"# documents N\""},
      {"# documents 0\n",
       "line 1: documents: '0' is no number from 1 to 10^15; write how many documents were counted"},
      {"# documents x\n",
       "line 1: documents: 'x' is no number from 1 to 10^15; write how many documents were counted"},
      {"# documents 5\n# documents 5\n", "line 2: documents: stands twice; keep one"},
      {"# documents 5\nthe 1\n", "line 2: count: missing after 'the 1'; write WORD<TAB>DOCUMENTS"},
      {"# documents 5\nthe\t6\n",
       "line 2: count: '6' of 'the' is no number from 0 to the table's documents (5); write in how many it "
       "comes"},
      {"# documents 5\nthe\t-1\n",
       "line 2: count: '-1' of 'the' is no number from 0 to the table's documents (5); write in how many it "
       "comes"},
      {"# documents 5\nthe\t1\t2\n",
       "line 2: count: '1\t2' of 'the' is no number from 0 to the table's documents (5); write in how many "
       "it comes"},
      {"# documents 5\nthe\t1\nthe\t1\n", "line 3: word: 'the' stands twice; keep one"},
      {"# documents 5\n\t1\n", "line 2: word: '' is not one word of 1 to 1,024 bytes; leave it out"},
      {"# documents 5\na b\t1\n", "line 2: word: 'a b' is not one word of 1 to 1,024 bytes; leave it out"},
  };
  for (const auto& [text, message] : kCases) {
    const auto table = IdfTable::Parse(text);
    ASSERT_FALSE(table.has_value()) << text;
    EXPECT_EQ(table.error().code, Code::kInvalidArgument);
    EXPECT_EQ(table.error().message, message);
  }
}

TEST(IdfTable, BringsWordsForTheStart) {
  const auto table = IdfTable::Bundled();
  EXPECT_GT(table->words(), 5'000u);
  EXPECT_LT(table->Weight(TokenHash("the")), 1.5);
  EXPECT_LT(table->Weight(TokenHash("的")), 1.5);
  EXPECT_GT(table->Weight(TokenHash("database")), 3);
  EXPECT_GT(table->Weight(TokenHash("数据库")), 3);
  EXPECT_EQ(table->version(), 17244021400972356027u)
      << "it is part of every index: a change of it is one of the format";
}

TEST(InverseFrequency, IsTheLogarithm) {
  for (const uint64_t documents :
       {uint64_t{1}, uint64_t{10}, uint64_t{12'345'678}, InverseFrequency::kDocumentsMax}) {
    InverseFrequency inverse(documents);
    for (uint64_t count = 0; count <= documents; count = count * 3 + 1) {
      const double weight = static_cast<double>(inverse.Weight(count)) / InverseFrequency::kOne;
      const double log = std::log(static_cast<double>(documents + 1) / static_cast<double>(count + 1));
      EXPECT_NEAR(weight, log + 1, 1e-4) << documents << " " << count;
    }
  }
}

}  // namespace
}  // namespace seen
