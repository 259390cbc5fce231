#pragma once
// An item's text as runs of letters that copies of it have in common.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

enum class RunKind : uint8_t {
  kWord,        // letters, digits and marks between spaces
  kDictionary,  // likewise of scripts without spaces: words yet to be found
  kSymbol,      // an emoji
};

struct Run {
  uint32_t begin = 0, end = 0;  // bytes of NormalText::text; never empty
  RunKind kind = RunKind::kWord;
};

struct NormalText {
  std::string text;  // UTF-8, NFKC, folded; one space between two runs of kWord, nothing else between runs
  std::vector<Run> runs;
  bool cut = false;  // it was longer than asked for
};

/// One thread each; keeps its buffers.
class Normaliser {
 public:
  /// `title`, then `text`, together at most `bytes_max` bytes (at most 2^31) of them.
  void Read(std::string_view title, std::string_view text, size_t bytes_max, NormalText& out);

 private:
  void ReadAscii(NormalText& out);
  void ReadUnicode(NormalText& out);
  void Fold(std::string_view together);

  std::string plain_;   // without markup
  std::string gentle_;  // a stretch of it without its piles of marks
  std::string folded_;
};

}  // namespace seen
