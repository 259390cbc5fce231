#pragma once
// The kinds of characters for finding words in a text, by ICU's properties.

#include <unicode/normalizer2.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace seen {

enum class CharacterKind : uint8_t {
  kSeparator,   // white space, punctuation, signs, unknown characters
  kNothing,     // ignored: controls, and marks that form no letter with the character before them
  kWord,        // letters, digits and marks
  kDictionary,  // the same in scripts without spaces: Han, kana, Thai, Lao, Khmer, Myanmar
  kSymbol,      // an emoji: a word by itself
  kSign,  // of mathematics, money or music, a hyphen, a point or comma: may be part of a word (RunWriter)
};

inline constexpr std::string_view kAsciiSigns = "+<=>$%^#&-.,";

/// `code_point`: after NFKC case folding.
CharacterKind KindOfCharacter(uint32_t code_point);

/// Decimal digits of any script.
bool IsDigit(uint32_t code_point);

/// Raised digits and the raised minus, before folding.
bool IsSuperscript(uint32_t code_point);
/// Of one character, before folding: one half.
bool IsFraction(uint32_t code_point);
/// The number in a circle, before folding. 0: the character is none.
uint32_t CircledNumber(uint32_t code_point);

/// Combining marks from U+0300 on and in similar blocks: "zalgo" text stacks them on letters.
bool IsStackingMark(uint32_t code_point);

/// A table of the basic plane: most characters need no call of ICU.
class BasicPlane {
 public:
  static const BasicPlane& Get();  // made at the first call, in about 20 ms

  /// True: NFKC case folding may treat the text before this character and the text from it on separately.
  bool HasBoundaryBefore(uint16_t c) const { return (flags_[c] & kBoundaryBefore) != 0; }
  /// True: the character alone folds to one character of the basic plane. Then Folded returns that character,
  /// and Kind its kind.
  bool IsSingle(uint16_t c) const { return (flags_[c] & kSingle) != 0; }
  uint16_t Folded(uint16_t c) const { return folded_[c]; }
  CharacterKind Kind(uint16_t c) const { return static_cast<CharacterKind>(flags_[c] & 7); }

 private:
  BasicPlane();
  static constexpr uint8_t kBoundaryBefore = 8, kSingle = 16;
  std::array<uint16_t, 65536> folded_{};
  std::array<uint8_t, 65536> flags_{};
};

uint32_t NextRareCharacter(std::string_view text, size_t& at);
/// Returns the character at `at` and moves `at` past it. Returns U+FFFD for each byte that begins no valid
/// character (overlong forms, surrogates, above U+10FFFF, truncated ones). `at` < text.size().
inline uint32_t NextCharacter(std::string_view text, size_t& at) {
  const auto byte = [&](size_t i) { return static_cast<uint32_t>(static_cast<unsigned char>(text[i])); };
  const uint32_t first = byte(at);
  if (first < 0x80) {
    ++at;
    return first;
  }
  // Han, kana and Hangul. The lead bytes 0xe0 and 0xed need further checks.
  if (first > 0xe0 && first < 0xf0 && first != 0xed && text.size() - at >= 3) {
    const uint32_t second = byte(at + 1) ^ 0x80, third = byte(at + 2) ^ 0x80;
    if ((second | third) < 0x40) {
      at += 3;
      return (first & 0xf) << 12 | second << 6 | third;
    }
  }
  return NextRareCharacter(text, at);
}
/// Bytes of the character that begins with `lead`, in valid UTF-8.
constexpr size_t CharacterBytes(char lead) {
  const auto first = static_cast<unsigned char>(lead);
  return first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}
/// Calls `put`(byte) for each UTF-8 byte of a code point.
template <typename Put>
void PutUtf8(uint32_t c, Put put) {
  if (c < 0x80) {
    put(c);
    return;
  }
  if (c < 0x800) {
    put(0xc0 | c >> 6);
  } else if (c < 0x10000) {
    put(0xe0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3f));
  } else {
    put(0xf0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3f));
    put(0x80 | (c >> 6 & 0x3f));
  }
  put(0x80 | (c & 0x3f));
}
inline void AppendUtf8(uint32_t code_point, std::string& out) {
  char bytes[4];
  size_t count = 0;
  PutUtf8(code_point, [&](uint32_t byte) { bytes[count++] = static_cast<char>(byte); });
  out.append(bytes, count);
}
/// The greatest character boundary of `text` that isn't beyond `bytes_max`.
size_t CharacterBoundary(std::string_view text, size_t bytes_max);

// What this room needs of ICU, for its files that include ICU's headers.

/// NFKC with case folding; removes ignorable characters (UAX 44, NFKC_CF). Any thread.
const icu::Normalizer2& FoldingNormalizer();

}  // namespace seen
