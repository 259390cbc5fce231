#pragma once
// Folds Traditional Chinese to Simplified Chinese, character by character, so that a text and its copy in the
// other script have the same features. One direction, without a look at the words around: characters that
// Simplified Chinese merged become equal (後 and 后). The table: data/README.md, folding.tsv.

#include <array>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace seen {

class FoldingTable {
 public:
  static const FoldingTable& Bundled();  // version kFoldingVersion; parsed at the first call
  /// `c`: after NFKC case folding. Returns `c` if the table doesn't have it. Of(Of(c)) == Of(c).
  uint32_t Of(uint32_t c) const {
    if (c < kFirst) return c;
    if (c < kEnd && near_[c - kFirst] != kElsewhere) return near_[c - kFirst];
    return Elsewhere(c);
  }
  size_t size() const { return size_; }

 private:
  explicit FoldingTable(std::string_view rows);
  uint32_t Elsewhere(uint32_t c) const;

  // The Han characters of the basic plane that fold within it, or to themselves.
  static constexpr uint32_t kFirst = 0x3400, kEnd = 0xa000;
  static constexpr uint16_t kElsewhere = 0;
  std::array<uint16_t, kEnd - kFirst> near_;
  std::vector<std::pair<uint32_t, uint32_t>> elsewhere_;  // the others, ascending
  size_t size_ = 0;
};

/// Whether folding applies to a text. `lang` decides if it is Chinese (of any kind), Japanese or Korean. With
/// any other `lang`, or none, the text decides: it isn't Chinese if more than one in eight of its letters of
/// East Asia are kana or Hangul. `text`: any UTF-8. A text of Han characters alone, without `lang`, counts as
/// Chinese.
bool IsChinese(std::string_view lang, std::string_view text);

}  // namespace seen
