#pragma once
// Finds words in scripts that put no spaces between them.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// One thread each. The result must depend on the run alone, so that a replay decides the same.
class Segmenter {
 public:
  virtual ~Segmenter() = default;
  /// Appends the end of each word of `run` (bytes from its beginning), ascending, the last one run.size().
  /// `run`: not empty, valid UTF-8, letters, digits and marks of Han, kana, Thai, Lao, Khmer and Myanmar,
  /// folded.
  virtual void Segment(std::string_view run, std::vector<uint32_t>& ends) = 0;
  /// For people, and to detect that another segmenter built an index: "ICU 72.1, Unicode 15.0".
  virtual std::string Version() const = 0;
};

/// Such as "ICU 72.1, Unicode 15.0". Another version may find other words in scripts without spaces.
std::string IcuVersion();

/// Finds words by ICU's word boundaries (UAX 29) and its dictionaries. Source: unicode-org.github.io/icu,
/// "Boundary Analysis".
std::unique_ptr<Segmenter> NewIcuSegmenter();

/// Each character of Han and kana is a word, with the marks that follow it. Thai, Lao, Khmer and Myanmar have
/// ICU's words.
std::unique_ptr<Segmenter> NewCharacterSegmenter();

}  // namespace seen
