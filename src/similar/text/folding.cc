#include "similar/text/folding.h"

#include <algorithm>
#include <numeric>

#include "base/result.h"
#include "similar/port/options.h"
#include "similar/text/characters.h"

namespace seen {
namespace {

constexpr std::string_view kBundledRows =
#include "similar/text/folding_bundled.inc"
    ;

// ISO 639: Chinese, and the Chinese languages that are written in Han characters.
constexpr std::string_view kChinese[] = {"zh",  "yue", "cmn", "wuu", "nan", "hak",
                                         "gan", "hsn", "cdo", "lzh", "zho", "chi"};
constexpr std::string_view kNotChinese[] = {"ja", "jpn", "ko", "kor"};
constexpr uint64_t kHanToOthers = 8;

bool IsHan(uint32_t c) { return (c >= 0x3400 && c < 0xa000) || (c >= 0x20000 && c < 0x32000); }
bool IsKanaOrHangul(uint32_t c) {
  return (c >= 0x3041 && c < 0x3100) || (c >= 0x31f0 && c < 0x3200) || (c >= 0xff66 && c < 0xff9e) ||
         (c >= 0x1100 && c < 0x1200) || (c >= 0x3131 && c < 0x3190) || (c >= 0xac00 && c < 0xd7a4);
}

}  // namespace

const FoldingTable& FoldingTable::Bundled() {
  static const FoldingTable table(kBundledRows);
  return table;
}

FoldingTable::FoldingTable(std::string_view rows) {
  std::iota(near_.begin(), near_.end(), static_cast<uint16_t>(kFirst));
  size_t at = 0;
  while (at < rows.size()) {
    uint32_t c = NextCharacter(rows, at);
    if (c == '#') {
      at = std::min(rows.find('\n', at), rows.size() - 1) + 1;
      continue;
    }
    if (c == '\n') continue;
    Check(at + 1 < rows.size() && rows[at] == '\t', "the table of folding can't be read");
    ++at;
    const uint32_t folded = NextCharacter(rows, at);
    Check(c >= kFirst && folded >= kFirst && at < rows.size() && rows[at] == '\n',
          "the table of folding can't be read");
    ++size_;
    if (c < kEnd && folded < kEnd) {
      near_[c - kFirst] = static_cast<uint16_t>(folded);
      continue;
    }
    if (c < kEnd) near_[c - kFirst] = kElsewhere;
    elsewhere_.emplace_back(c, folded);
  }
  std::sort(elsewhere_.begin(), elsewhere_.end());
}

uint32_t FoldingTable::Elsewhere(uint32_t c) const {
  const auto found = std::lower_bound(elsewhere_.begin(), elsewhere_.end(), std::pair(c, uint32_t{0}));
  return found != elsewhere_.end() && found->first == c ? found->second : c;
}

bool IsChinese(std::string_view lang, std::string_view text) {
  if (!lang.empty()) {
    const std::string key = LanguageKey(lang);
    if (std::ranges::find(kChinese, key) != std::end(kChinese)) return true;
    if (std::ranges::find(kNotChinese, key) != std::end(kNotChinese)) return false;
  }
  uint64_t han = 0, others = 0;
  for (size_t at = 0; at < text.size();) {
    if (static_cast<unsigned char>(text[at]) < 0xe1) {  // below U+1000
      ++at;
      continue;
    }
    const uint32_t c = NextCharacter(text, at);
    han += IsHan(c) ? 1u : 0u;
    others += IsKanaOrHangul(c) ? 1u : 0u;
  }
  return han >= kHanToOthers * others && han > 0;
}

}  // namespace seen
