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
  /// Calls `take` for each number, in text order: "1000", "-5", "1.05", a date such as
  /// "2024-5-12" or "2024-5-12-8-30", or a word with many digits.
  void Find(const NormalText& text, const Take& take);
  /// Returns a hash of all values; 0: there is none.
  uint64_t Read(const NormalText& text, NumberSketch& out);
  void Release();

 private:
  struct Group {
    std::string digits;
    uint32_t place = 0;
  };

  void ReadWord(std::string_view word, uint32_t place, const Take& take);
  void ReadDictionary(std::string_view letters, uint32_t place, const Take& take);
  bool IsGroup(std::string_view word) const;
  void Flush(const Take& take);

  std::vector<Group> groups_;  // digits that may be one number with spaces: 12 000
  size_t groups_count_ = 0;
  std::string number_, date_;
  std::vector<std::string> amounts_;
  // Of the number that is taken.
  uint32_t place_ = 0;  // in the text
  NumberTag tag_ = NumberTag::kNumber;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> places_;
  std::vector<uint64_t> values_;
};

}  // namespace seen
