#include "similar/text/characters.h"

#include <unicode/uchar.h>
#include <unicode/unistr.h>
#include <unicode/uscript.h>
#include <unicode/uversion.h>

#include <algorithm>
#include <memory>

#include "base/result.h"

namespace seen {

namespace {

bool IsOfDictionaryScript(UChar32 c) {
  if (c == 0x30fc) return true;  // the long vowel of kana; its script is "common"
  UErrorCode error = U_ZERO_ERROR;
  switch (uscript_getScript(c, &error)) {
    case USCRIPT_HAN:
    case USCRIPT_HIRAGANA:
    case USCRIPT_KATAKANA:
    case USCRIPT_THAI:
    case USCRIPT_LAO:
    case USCRIPT_KHMER:
    case USCRIPT_MYANMAR:
      return true;
    default:
      return c == 0x3099 || c == 0x309a;  // marks of kana; their script is "inherited"
  }
}

// Signs below U+2300 and geometric shapes are bullets and ornaments more often than words.
bool IsEmoji(UChar32 c) {
  if (c < 0x2300 || (c >= 0x25a0 && c < 0x2600)) return false;
  return u_hasBinaryProperty(c, UCHAR_EMOJI);
}

// Arrows, brackets, bullets and bars are ornaments, whatever their category.
bool IsSign(UChar32 c) {
  if (c < 128) return kAsciiSigns.find(static_cast<char>(c)) != std::string_view::npos;
  if (c < 0x2200 && std::u16string_view(u"\u00b1\u00d7\u00f7\u066b\u066c\u2013\u2030\u2031")
                            .find(static_cast<char16_t>(c)) != std::u16string_view::npos)
    return true;
  if (c >= 0x266d && c < 0x2670) return true;  // flat, natural, sharp
  if (c >= 0x2200 && c < 0x2300) {
    constexpr std::u16string_view kOrnaments =
        u"\u2215\u2216\u2217\u2218\u2219\u2223\u2225\u223c\u22c4\u22c5\u22c6";
    return kOrnaments.find(static_cast<char16_t>(c)) == std::u16string_view::npos;
  }
  return u_charType(c) == U_CURRENCY_SYMBOL;
}

}  // namespace

bool IsSuperscript(uint32_t c) {
  return c == 0xb2 || c == 0xb3 || c == 0xb9 || c == 0x2070 || (c >= 0x2074 && c < 0x207a) || c == 0x207b;
}

bool IsFraction(uint32_t c) { return (c >= 0xbc && c < 0xbf) || (c >= 0x2150 && c < 0x215f) || c == 0x2189; }

uint32_t CircledNumber(uint32_t c) {
  if (c >= 0x2460 && c < 0x2474) return c - 0x245f;
  if (c >= 0x24eb && c < 0x24f5) return c - 0x24e0;  // white on black, from 11
  if (c >= 0x24f5 && c < 0x24ff) return c - 0x24f4;
  return c >= 0x2776 && c < 0x2794 ? (c - 0x2776) % 10 + 1 : 0;
}

bool IsDigit(uint32_t c) { return c < 128 ? c >= '0' && c <= '9' : u_isdigit(static_cast<UChar32>(c)) != 0; }

bool IsStackingMark(uint32_t c) {
  return (c >= 0x300 && c < 0x370) || (c >= 0x483 && c < 0x48a) || (c >= 0x1ab0 && c < 0x1b00) ||
         (c >= 0x1dc0 && c < 0x1e00) || (c >= 0x20d0 && c < 0x2100) || (c >= 0xfe20 && c < 0xfe30);
}

CharacterKind KindOfCharacter(uint32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  if (IsStackingMark(code_point)) return CharacterKind::kNothing;
  if (IsSign(c)) return CharacterKind::kSign;
  const CharacterKind word = IsOfDictionaryScript(c) ? CharacterKind::kDictionary : CharacterKind::kWord;
  switch (u_charType(c)) {
    case U_UPPERCASE_LETTER:
    case U_LOWERCASE_LETTER:
    case U_TITLECASE_LETTER:
    case U_MODIFIER_LETTER:
    case U_OTHER_LETTER:
    case U_NON_SPACING_MARK:
    case U_ENCLOSING_MARK:
    case U_COMBINING_SPACING_MARK:
    case U_DECIMAL_DIGIT_NUMBER:
    case U_LETTER_NUMBER:
    case U_OTHER_NUMBER:
      return word;
    case U_FORMAT_CHAR:
      return CharacterKind::kNothing;
    case U_CONTROL_CHAR:
      return c == 0x85 || (c >= '\t' && c <= '\r') ? CharacterKind::kSeparator : CharacterKind::kNothing;
    case U_MODIFIER_SYMBOL:  // skin tones of emoji
      return c >= 0x1f3fb && c <= 0x1f3ff ? CharacterKind::kNothing : CharacterKind::kSeparator;
    case U_OTHER_SYMBOL:
      return IsEmoji(c) ? CharacterKind::kSymbol : CharacterKind::kSeparator;
    default:
      return CharacterKind::kSeparator;
  }
}

const BasicPlane& BasicPlane::Get() {
  static const std::unique_ptr<const BasicPlane> plane(new BasicPlane);
  return *plane;
}

BasicPlane::BasicPlane() {
  const icu::Normalizer2& normalizer = FoldingNormalizer();
  for (UChar32 c = 0; c < 65536; ++c) {
    const auto at = static_cast<size_t>(c);
    if (c >= 0xd800 && c < 0xe000) continue;
    if (normalizer.hasBoundaryBefore(c)) flags_[at] = kBoundaryBefore;
    UErrorCode error = U_ZERO_ERROR;
    icu::UnicodeString folded;
    normalizer.normalize(icu::UnicodeString(c), folded, error);
    Check(U_SUCCESS(error), "ICU can't normalise");
    if (folded.length() != 1 || IsSuperscript(static_cast<uint32_t>(c))) continue;
    folded_[at] = folded[0];
    flags_[at] =
        static_cast<uint8_t>(flags_[at] | kSingle | static_cast<uint8_t>(KindOfCharacter(folded_[at])));
  }
}

uint32_t NextRareCharacter(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(at++);
  if (first < 0x80) return first;
  const size_t more = first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : 1;
  if (first < 0xc2 || first > 0xf4 || text.size() - at < more) return 0xfffd;
  uint32_t c = first & (0x3fu >> more);
  for (size_t i = 0; i < more; ++i) {
    const uint32_t next = byte(at + i);
    if ((next & 0xc0) != 0x80) return 0xfffd;
    c = c << 6 | (next & 0x3f);
  }
  constexpr uint32_t kLeast[] = {0, 0x80, 0x800, 0x10000};
  if (c < kLeast[more] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000)) return 0xfffd;
  at += more;
  return c;
}

size_t CharacterBoundary(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text.size();
  size_t at = bytes_max;
  // A character has at most three continuation bytes. A longer run of them isn't text: any cut will do.
  for (int back = 0; back < 3 && at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0) == 0x80; ++back)
    --at;
  return at;
}

const icu::Normalizer2& FoldingNormalizer() {
  static const icu::Normalizer2* const normalizer = [] {
    UErrorCode error = U_ZERO_ERROR;
    const icu::Normalizer2* made = icu::Normalizer2::getNFKCCasefoldInstance(error);
    Check(U_SUCCESS(error) && made != nullptr, "ICU has no data for NFKC_CF: its library is broken");
    return made;
  }();
  return *normalizer;
}

std::string IcuVersion() {
  UVersionInfo library, unicode;
  u_getVersion(library);
  u_getUnicodeVersion(unicode);
  return "ICU " + std::to_string(library[0]) + "." + std::to_string(library[1]) + ", Unicode " +
         std::to_string(unicode[0]) + "." + std::to_string(unicode[1]);
}

}  // namespace seen
