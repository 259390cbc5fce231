#pragma once
// An item's text as runs of letters. Copies of a text give the same runs.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "similar/port/options.h"
#include "similar/port/similar_port.h"
#include "similar/text/item_features.h"

namespace seen {

enum class RunKind : uint8_t {
  kWord,        // letters, digits and marks between spaces
  kDictionary,  // the same in scripts without spaces; Segmenter finds the words
  kSymbol,      // an emoji
};

struct Run {
  uint32_t begin = 0, end = 0;  // bytes of NormalText::text; never empty
  RunKind kind = RunKind::kWord;
  bool in_link = false;
};

struct NormalText {
  std::string text;  // UTF-8, NFKC, folded; runs, and what RunWriter puts between them
  std::vector<Run> runs;
  bool cut = false;  // the text was longer than `bytes_max`
};

/// One thread each; keeps its buffers.
class Normaliser {
 public:
  explicit Normaliser(TextRules rules = {}) : rules_(std::move(rules)) {}
  /// Reads the title, then the text: together at most `bytes_max` bytes (at most 2^31).
  void Read(const ItemText& item, size_t bytes_max, NormalText& out);
  /// Frees the buffers.
  void Release();

 private:
  bool AppendPlain(std::string_view text);
  void ReadAscii(NormalText& out);
  void ReadUnicode(bool folds_chinese, NormalText& out);
  void Fold(std::string_view together);
  void DropEmoji(NormalText& out);

  bool SignsCount() const { return rules_.version >= 5; }
  bool FoldsWords(bool folds_chinese) const { return folds_chinese && rules_.version >= 5; }

  const TextRules rules_;
  std::string stripped_;         // without boilerplate
  std::string plain_;            // without markup
  std::vector<uint32_t> links_;  // where each link of plain_ begins and ends
  std::string gentle_;           // a piece of plain_ without stacked marks
  std::string folded_;
  std::string kept_;  // with the words folded, or without emoji
};

}  // namespace seen
