#pragma once
// The options that decide which items are similar, and how far the index goes back.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "model/day.h"

namespace seen {

/// How candidates are found. An index keeps its method, and only the lists that this method needs, for its
/// whole life.
enum class SimilarMethod : uint8_t { kSimHash, kMinHash, kBoth };
inline constexpr std::array<std::string_view, 3> kSimilarMethodNames{"simhash", "minhash", "both"};
/// The method of a new index if none is configured. docs/SIMILAR.md says what the other methods find and
/// cost.
inline constexpr SimilarMethod kDefaultMethod = SimilarMethod::kMinHash;

inline constexpr bool UsesSimHash(SimilarMethod method) { return method != SimilarMethod::kMinHash; }
inline constexpr bool UsesMinHash(SimilarMethod method) { return method != SimilarMethod::kSimHash; }
inline constexpr std::string_view SimilarMethodName(SimilarMethod method) {
  return kSimilarMethodNames[static_cast<size_t>(method)];
}
/// nullopt: no method has this name.
inline constexpr std::optional<SimilarMethod> SimilarMethodNamed(std::string_view name) {
  const auto found = std::find(kSimilarMethodNames.begin(), kSimilarMethodNames.end(), name);
  if (found == kSimilarMethodNames.end()) return std::nullopt;
  return static_cast<SimilarMethod>(found - kSimilarMethodNames.begin());
}

/// What happens to a candidate that is similar to a seen item.
enum class Similar : uint8_t {
  kOff,
  kDemote,  // it comes last
  kDrop,
};

struct GroupOptions {
  SimilarMethod method = SimilarMethod::kBoth;
  bool verify = true;
  int distance_max = 3;
  double similarity_min = 0.8;
  double containment_min = 0;  // 0: no item is similar because it contains another
  int32_t window_days = 30;
  uint32_t list_max = 256;            // entries read of one list of candidates: the newest; at most kListMax
  uint32_t candidates_max = 128;      // verified for one item
  TimeMs stored_time_max{INT64_MAX};  // Open corrects a stored index time beyond it: StoredTimeMax
};

/// A stored time beyond the result was never true. The margin is at least a day. A clock that is slow by
/// minutes must not cause a correction, and a time that is hours ahead does no harm.
inline TimeMs StoredTimeMax(TimeMs wall_now, std::chrono::milliseconds future_skew_max) {
  return {wall_now.value + std::max(future_skew_max.count(), kMsPerDay)};
}

/// The rules by which a text becomes words and shingles. They decide which items are similar. So an index of
/// items records them, and keeps to them until it is rebuilt.
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

/// What numbers in texts mean.
enum class Numbers : uint8_t {
  kDistinct,  // texts with different numbers aren't similar (NumbersDiffer)
  kIgnored,   // a number is a word like any other
};
inline constexpr std::array<std::string_view, 2> kNumbersNames = {"distinct", "ignored"};
constexpr std::string_view NumbersName(Numbers numbers) {
  return kNumbersNames[static_cast<size_t>(numbers)];
}
constexpr std::optional<Numbers> NumbersNamed(std::string_view name) {
  for (size_t i = 0; i < kNumbersNames.size(); ++i)
    if (kNumbersNames[i] == name) return static_cast<Numbers>(i);
  return std::nullopt;
}
inline constexpr Numbers kDefaultNumbers = Numbers::kDistinct;

/// A text of fewer different words is similar to equal texts only.
inline constexpr uint32_t kDefaultTokensMin = 6;

/// A text is similar to one that contains so much of it. 0: containment doesn't count.
inline constexpr double kDefaultContainmentMin = 0.9;

/// The version of data/folding.tsv.
inline constexpr uint32_t kFoldingVersion = 1;

/// The version of how texts are read. Raise it when the same text no longer gives the same features.
/// 1: no folding, words by ICU's dictionary, emoji are words. 2: the other rules decide these. 5: signs,
/// decimals, the queries of links and powers count; the rules decide about numbers, short texts and
/// beginnings; placeholders are no text; Taiwan's words are folded. 3 and 4 were never released, and their
/// rules are gone.
inline constexpr uint32_t kTextVersion = 5;
constexpr bool IsLostTextVersion(uint32_t version) { return version == 3 || version == 4; }

struct TextRules {
  uint32_t version = kTextVersion;
  uint32_t folding_version = kFoldingVersion;  // 0: Traditional Chinese isn't folded to Simplified Chinese
  Segmentation segmentation = kDefaultSegmentation;
  Numbers numbers = kDefaultNumbers;
  uint32_t tokens_min = kDefaultTokensMin;
  bool beginnings = true;  // candidates are found by them too: containment counts
  std::shared_ptr<const Boilerplate> boilerplate = nullptr;  // nullptr: none
};

/// The rules of indexes that record none.
inline TextRules FirstTextRules() {
  return {.version = 1,
          .folding_version = 0,
          .segmentation = Segmentation::kDictionary,
          .numbers = Numbers::kIgnored,
          .tokens_min = 0,
          .beginnings = false};
}

/// From version 2 on, only a text of fewer words keeps its emoji: there they may be all that distinguishes
/// two texts.
inline constexpr size_t kEmojiWordsMax = 8;

// How long items are kept. The index keeps them in buckets of days, four to a window, and drops a bucket once
// all of its days have left the window.

inline constexpr int32_t kBucketsAWindow = 4;
inline constexpr uint64_t kBucketsKept = kBucketsAWindow + 1;  // including the one that is leaving

/// The days of a bucket. `window_days` is at least 1, here and below.
constexpr int32_t BucketDays(int32_t window_days) {
  return (window_days + kBucketsAWindow - 1) / kBucketsAWindow;
}

/// The number of days that the index can know an item: until its bucket is dropped, plus the day on which
/// that happens.
constexpr int32_t KeptDays(int32_t window_days) { return window_days + BucketDays(window_days) + 1; }

/// The key that items of one language share: the primary subtag of a BCP 47 tag in lower case. "zh-Hant-TW"
/// has "zh"; without a tag it is "und". Items of different languages are never compared if each key has its
/// own index.
inline std::string LanguageKey(std::string_view lang) {
  std::string key(lang.substr(0, lang.find_first_of("-_")));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return key.empty() ? "und" : key;
}

}  // namespace seen
