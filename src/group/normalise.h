#pragma once
// An item's text as runs of letters. Copies of a text give the same runs.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

enum class RunKind : uint8_t {
  kWord,        // letters, digits and marks between spaces
  kDictionary,  // the same in scripts without spaces; Segmenter finds the words
  kSymbol,      // an emoji
};

struct Run {
  uint32_t begin = 0, end = 0;  // bytes of NormalText::text; never empty
  RunKind kind = RunKind::kWord;
};

struct NormalText {
  std::string text;  // UTF-8, NFKC, folded; one space between two runs of kWord, nothing else between runs
  std::vector<Run> runs;
  bool cut = false;  // the text was longer than `bytes_max`
};

/// One thread each; keeps its buffers.
class Normaliser {
 public:
  /// Reads `title`, then `text`: together at most `bytes_max` bytes (at most 2^31).
  void Read(std::string_view title, std::string_view text, size_t bytes_max, NormalText& out);

 private:
  void ReadAscii(NormalText& out);
  void ReadUnicode(NormalText& out);
  void Fold(std::string_view together);

  std::string plain_;   // without markup
  std::string gentle_;  // a piece of plain_ without stacked marks
  std::string folded_;
};

}  // namespace seen
