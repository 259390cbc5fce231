#pragma once
// Folds words of Taiwan to the mainland's words (軟體 is 软件), so that a text and its copy with the other
// vocabulary have the same features. It goes by the words alone, without a look at what they mean there. The
// table: data/README.md, vocabulary.tsv.

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "similar/text/normalise.h"

namespace seen {

class Vocabulary {
 public:
  static const Vocabulary& Bundled();  // parsed at the first call
  /// Replaces the words of each run of kDictionary, from the left, the longest first. `text`: after
  /// FoldingTable. A word never spans two runs, so it holds no space, sign or punctuation. `spare`: a buffer
  /// of the caller.
  void Fold(NormalText& text, std::string& spare) const;

  struct Word {
    std::string_view from, to;  // Han characters of three bytes, at least two each
  };
  /// For each of them: Fold leaves `to` as it is.
  std::span<const Word> words() const { return words_; }

 private:
  explicit Vocabulary(std::string_view rows);
  const Word* Find(std::string_view text) const;

  static constexpr uint32_t kFirst = 0x3400, kEnd = 0xa000;
  std::vector<Word> words_;                      // by the first character, then the longest first
  std::array<uint16_t, kEnd - kFirst> first_{};  // of the words with that first character: position + 1
};

}  // namespace seen
