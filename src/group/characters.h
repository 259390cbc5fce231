#pragma once
// What a character is to a reader of words, by ICU's properties.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace seen {

enum class CharacterKind : uint8_t {
  kSeparator,   // white space, punctuation, signs, what is unknown
  kNothing,     // as if it weren't there: controls, marks that make no letter with what they stand on
  kWord,        // letters, digits and marks
  kDictionary,  // likewise of scripts without spaces: Han, kana, Thai, Lao, Khmer, Myanmar
  kSymbol,      // an emoji: a word by itself
};

/// Of a character as NFKC case folding leaves it.
CharacterKind KindOfCharacter(uint32_t code_point);

/// U+0300 and its like of other blocks: what "zalgo" piles up.
bool IsStackingMark(uint32_t code_point);

/// A table over the basic plane, so that most characters need no call of ICU.
class BasicPlane {
 public:
  static const BasicPlane& Get();  // made at the first call, in about 20 ms

  /// NFKC case folding may be done of what stands before and of what begins here apart.
  bool HasBoundaryBefore(uint16_t c) const { return (flags_[c] & kBoundaryBefore) != 0; }
  /// Alone it is folded to one character of the basic plane; then Folded is that and Kind its kind.
  bool IsSingle(uint16_t c) const { return (flags_[c] & kSingle) != 0; }
  uint16_t Folded(uint16_t c) const { return folded_[c]; }
  CharacterKind Kind(uint16_t c) const { return static_cast<CharacterKind>(flags_[c] & 7); }

 private:
  BasicPlane();
  static constexpr uint8_t kBoundaryBefore = 8, kSingle = 16;
  std::array<uint16_t, 65536> folded_{};
  std::array<uint8_t, 65536> flags_{};
};

/// Reads the character at `at` and moves on; U+FFFD for each byte that begins none (overlong forms,
/// surrogates, more than U+10FFFF, cut ones). `at` < text.size().
uint32_t NextCharacter(std::string_view text, size_t& at);
/// The bytes of a code point, to `put`(byte) one by one.
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
void AppendUtf8(uint32_t code_point, std::string& out);
/// The greatest character boundary of `text` that isn't beyond `bytes_max`.
size_t CharacterBoundary(std::string_view text, size_t bytes_max);

}  // namespace seen
