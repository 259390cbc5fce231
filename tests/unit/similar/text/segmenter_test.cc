#include "similar/text/segmenter.h"

#include <gtest/gtest.h>

#include "similar/text/feature_reader.h"

namespace seen {
namespace {

std::string Joined(std::span<const std::string_view> words) {
  std::string joined;
  for (const std::string_view word : words) joined += (joined.empty() ? "" : "|") + std::string(word);
  return joined;
}

struct Case {
  std::string_view text, words;
};

// The dictionaries of ICU 72 to 76 all cut these texts in the same way.
TEST(Words, AreFoundInEveryScript) {
  constexpr Case kCases[] = {
      {"The cat's 2 dogs", "the|cat|s|2|dogs"},
      {"我们使用软件管理文件", "我们|使用|软件|管理|文件"},
      {"資料庫 管理", "資料庫|管理"},
      {"プラットフォーム、戦略ゲーム", "プラットフォーム|戦略|ゲーム"},
      {"ภาษาไทย", "ภาษา|ไทย"},
      {"한국어 문장입니다", "한국어|문장입니다"},
      {"Привет, мир", "привет|мир"},
      {"مرحبا بالعالم", "مرحبا|بالعالم"},
      {"用Python管理3个工具", "用|python|管理|3|个|工具"},
      {"软件，文件", "软件|文件"},
      {"ok 😂😂", "ok|😂|😂"},
      {"", ""},
  };
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled(), .rules = FirstTextRules()});
  for (const auto& [text, words] : kCases) EXPECT_EQ(Joined(reader.Words({.text = text})), words);
}

TEST(Words, AreCharactersInChineseAndJapanese) {
  constexpr Case kCases[] = {
      {"The cat's 2 dogs", "the|cat|s|2|dogs"},
      {"我们使用软件", "我|们|使|用|软|件"},
      {"資料庫，管理", "数|据|库|管|理"},
      {"プラットフォームです", "プ|ラ|ッ|ト|フ|ォ|ー|ム|で|す"},
      {"ภาษาไทย软件ภาษา", "ภาษา|ไทย|软|件|ภาษา"},
      {"한국어 문장입니다", "한국어|문장입니다"},
      {"用Python3个", "用|python3|个"},
      {"\U00020000\U00020001", "\U00020000|\U00020001"},
      {"", ""},
  };
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()});
  for (const auto& [text, words] : kCases) EXPECT_EQ(Joined(reader.Words({.text = text})), words);
}

TEST(Segmenter, EndsAtTheRunsEndHoweverLongItIs) {
  const auto segmenter = NewIcuSegmenter();
  std::string run;
  for (int i = 0; i < 20'000; ++i) run += "的件";
  std::vector<uint32_t> ends = {7};
  segmenter->Segment(run, ends);
  ASSERT_GT(ends.size(), 2u);
  EXPECT_EQ(ends.front(), 7u) << "appends";
  EXPECT_EQ(ends.back(), run.size());
  for (size_t i = 2; i < ends.size(); ++i) {
    ASSERT_LT(ends[i - 1], ends[i]);
    ASSERT_EQ(ends[i] % 3, 0u) << "between characters";
  }
}

TEST(Segmenter, CountsBytesBeyondTheBasicPlaneToo) {
  std::vector<uint32_t> ends;
  NewIcuSegmenter()->Segment("\U00020000\U00020001软件\U00020002", ends);
  for (const uint32_t end : ends)
    EXPECT_TRUE(end == 4 || end == 8 || end == 11 || end == 14 || end == 18) << end;
  ASSERT_FALSE(ends.empty());
  EXPECT_EQ(ends.back(), 18u);
}

TEST(Segmenter, SaysItsVersion) {
  EXPECT_EQ(NewIcuSegmenter()->Version().substr(0, 4), "ICU ");
  EXPECT_EQ(NewCharacterSegmenter()->Version(),
            "characters of Han and kana, " + NewIcuSegmenter()->Version());
}

/// Each word has two characters, of three bytes each.
class PairSegmenter final : public Segmenter {
 public:
  void Segment(std::string_view run, std::vector<uint32_t>& ends) override {
    for (size_t at = 6; at < run.size(); at += 6) ends.push_back(static_cast<uint32_t>(at));
    ends.push_back(static_cast<uint32_t>(run.size()));
  }
  std::string Version() const override { return "pairs"; }
};

TEST(FeatureReader, TakesAnotherSegmenter) {
  FeatureReader reader(FeatureOptions{.idf = IdfTable::Bundled()}, std::make_unique<PairSegmenter>());
  EXPECT_EQ(Joined(reader.Words({.text = "中华人民共和国 abc"})), "中华|人民|共和|国|abc");
  EXPECT_EQ(reader.SegmenterVersion(), "pairs");
}

}  // namespace
}  // namespace seen
