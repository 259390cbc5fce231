#pragma once
// The numbers of a text: docs/SIMILAR.md, "Numbers".

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "similar/text/item_features.h"
#include "similar/text/normalise.h"

namespace seen {

/// One thread each; keeps its buffers.
class NumberFinder {
 public:
  using Take = std::function<void(const std::string& number)>;
  /// Calls `take` for each number, in text order: "1000", "-5", "1", or a word with many digits.
  void Find(const NormalText& text, const Take& take);
  /// A number that comes several times counts as often.
  void Read(const NormalText& text, Sketch& out);
  void Release();

 private:
  void ReadWord(std::string_view word, const Take& take);
  void ReadDictionary(std::string_view letters, const Take& take);
  void Flush(const Take& take);

  std::string waiting_;     // a number that may go on in the next word
  bool may_go_on_ = false;  // a word of three digits has the thousands of waiting_
  std::vector<std::string> groups_;
  std::vector<uint64_t> hashes_;
};

}  // namespace seen
