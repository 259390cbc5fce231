#include "similar/word_counts.h"

#include <gtest/gtest.h>

namespace seen {
namespace {

using Words = std::vector<std::string_view>;

TEST(WordCounts, CountsAWordOnceADocument) {
  WordCounts counts(1000);
  counts.Add(Words{"b", "a", "b"});
  counts.Add(Words{"b"});
  counts.Add(Words{});
  EXPECT_EQ(counts.documents(), 2u) << "one without a word is none";
  EXPECT_EQ(counts.MostFrequent(10, 1), (std::vector<WordCounts::Word>{{"b", 2}, {"a", 1}}));
  EXPECT_EQ(counts.MostFrequent(10, 2), (std::vector<WordCounts::Word>{{"b", 2}}));
}

TEST(WordCounts, OrdersTheEquallyFrequentByTheirBytes) {
  WordCounts counts(1000);
  counts.Add(Words{"桥", "z", "a"});
  counts.Add(Words{"a", "z", "桥", "once"});
  EXPECT_EQ(counts.MostFrequent(2, 1), (std::vector<WordCounts::Word>{{"a", 2}, {"z", 2}}));
}

TEST(WordCounts, ForgetsTheRareWhenItKnowsTooManyAndSaysHowFarOffItMayBe) {
  WordCounts counts(100);
  std::vector<std::string> rare;
  for (int i = 0; i < 1000; ++i) rare.push_back("rare" + std::to_string(i));
  for (const std::string& word : rare) {
    counts.Add(Words{"often", word});
    EXPECT_LE(counts.words(), 100u);
  }
  EXPECT_GT(counts.undercount(), 0u);
  const auto words = counts.MostFrequent(1, 1);
  ASSERT_EQ(words.size(), 1u);
  EXPECT_EQ(words[0], (WordCounts::Word{"often", 1000})) << "what is frequent is never forgotten";
}

TEST(WordCounts, LeavesOutWhatALineCantHold) {
  WordCounts counts(1000);
  const std::string long_word(WordCounts::kWordBytesMax + 1, 'x');
  counts.Add(Words{"#tag", "a\tb", "a b", long_word, "", "fine"});
  EXPECT_EQ(counts.MostFrequent(10, 1), (std::vector<WordCounts::Word>{{"fine", 1}}));
}

TEST(IdfTableText, HasDocumentsCommentsAndWords) {
  const std::vector<WordCounts::Word> words = {{"bridge", 12}, {"桥", 3}};
  const std::vector<std::string> comments = {"a comment"};
  EXPECT_EQ(IdfTableText(40, words, comments), "# documents 40\n# a comment\nbridge\t12\n桥\t3\n");
}

}  // namespace
}  // namespace seen
