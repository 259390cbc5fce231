#pragma once
// The rules by which a text becomes words and shingles. They decide which items are similar. So an index of
// items records them, and keeps to them until it is rebuilt.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace seen {

class Boilerplate;

/// What the shingles of Chinese and Japanese are made of. Thai, Lao, Khmer and Myanmar always have ICU's
/// words.
enum class Segmentation : uint8_t {
  kTrigrams,            // three characters in a row: each character is a word
  kBigramsTrigrams,     // two characters in a row, and three
  kDictionary,          // three of ICU's words in a row
  kDictionaryTrigrams,  // both: three words in a row, and three characters in a row
};
inline constexpr std::array<std::string_view, 4> kSegmentationNames = {"trigrams", "bigrams_trigrams",
                                                                       "dictionary", "dictionary_trigrams"};
constexpr std::string_view SegmentationName(Segmentation segmentation) {
  return kSegmentationNames[static_cast<size_t>(segmentation)];
}
constexpr std::optional<Segmentation> SegmentationNamed(std::string_view name) {
  for (size_t i = 0; i < kSegmentationNames.size(); ++i)
    if (kSegmentationNames[i] == name) return static_cast<Segmentation>(i);
  return std::nullopt;
}
/// Whether ICU's dictionary finds the words of Chinese and Japanese.
constexpr bool UsesDictionary(Segmentation segmentation) {
  return segmentation == Segmentation::kDictionary || segmentation == Segmentation::kDictionaryTrigrams;
}
inline constexpr Segmentation kDefaultSegmentation = Segmentation::kTrigrams;

/// The version of data/folding.tsv.
inline constexpr uint32_t kFoldingVersion = 1;

struct TextRules {
  uint32_t folding_version = kFoldingVersion;  // 0: Traditional Chinese isn't folded to Simplified Chinese
  Segmentation segmentation = kDefaultSegmentation;
  bool emoji_are_words = false;  // false: they count only in a text of fewer than kEmojiWordsMax other words
  std::shared_ptr<const Boilerplate> boilerplate = nullptr;  // nullptr: none
};

/// The rules of indexes that record none.
inline TextRules FirstTextRules() {
  return {.folding_version = 0, .segmentation = Segmentation::kDictionary, .emoji_are_words = true};
}

/// A text of fewer words keeps its emoji: there they may be all that distinguishes two texts.
inline constexpr size_t kEmojiWordsMax = 8;

}  // namespace seen
