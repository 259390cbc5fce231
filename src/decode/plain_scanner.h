#pragma once
// A cursor over JSON text that takes scalars without escapes and fails on everything else. Room decode only.

#include <emmintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "decode/coverage.h"
#include "decode/plain_event.h"

#if defined(__SSE2__)
#endif

namespace seen {

// Digits to numbers, several at once.

// `digits`: eight digits, the first in the lowest byte. Adds up pairs, then fours, then all.
inline int64_t NumberOf(uint64_t digits) {
  digits = digits * 10 + (digits >> 8);
  constexpr uint64_t kEven = 0x0000'00ff'0000'00ff;
  const uint64_t high = (digits & kEven) * (100 + (uint64_t{1'000'000} << 32));
  const uint64_t low = ((digits >> 16) & kEven) * (1 + (uint64_t{10'000} << 32));
  return static_cast<int64_t>((high + low) >> 32);
}

/// `text`: digits, at most 18. One at a time, each digit would wait for the one before.
inline int64_t NumberOf(std::string_view text) {
  constexpr uint64_t kZeros = 0x3030'3030'3030'3030;
  constexpr std::array<int64_t, 9> kPowers = {1,       10,        100,        1'000,      10'000,
                                              100'000, 1'000'000, 10'000'000, 100'000'000};
  int64_t number = 0;
  if constexpr (std::endian::native == std::endian::little) {
    if (text.size() >= 8 && text.size() <= 16) {
      uint64_t first, last;
      std::memcpy(&first, text.data(), 8);
      std::memcpy(&last, text.data() + text.size() - 8, 8);
      // The two words overlap: the last one's digits that the first one has too become zeros.
      const size_t rest = text.size() - 8;
      last = rest == 0 ? 0 : (last - kZeros) >> (64 - 8 * rest) << (64 - 8 * rest);
      return NumberOf(first - kZeros) * kPowers[rest] + NumberOf(last);
    }
  }
  for (const char digit : text) number = number * 10 + (digit - '0');
  return number;
}

/// A value that isn't read was skipped and validated: nested, with escapes or a fraction.
struct PlainSkipped {
  const char* end = nullptr;  // behind the value; nullptr: not plain, or invalid
  bool beyond_ascii = false;  // a string has such bytes: the caller must check that they are UTF-8
};

/// `at`: where the value begins, maybe with white space before it. Accepts only what every JSON reader
/// accepts: at most 32 levels, numbers that no reader finds too great or too long, no surrogates. Pure.
PlainSkipped SkipPlainValue(const char* at, const char* end);

// Everything is inlined, so that the cursor stays in a register: a call in between costs a third of the
// speed.
#define SEEN_INLINE [[gnu::always_inline]] inline

/// Never reads outside of its text. After a failed call all further results mean nothing.
class PlainScanner {
 public:
  explicit PlainScanner(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  /// True: a string has a byte beyond ASCII. The caller must check that the text is UTF-8.
  bool beyond_ascii() const { return beyond_ascii_; }

  SEEN_INLINE bool AtEnd() {
    SkipSpace();
    return at_ == end_;
  }
  /// The next character that isn't white space, without taking it; 0 at the end.
  SEEN_INLINE char Peek() {
    SkipSpace();
    return at_ == end_ ? '\0' : *at_;
  }
  SEEN_INLINE bool Take(char wanted) {
    if (Peek() != wanted) return false;
    ++at_;
    return true;
  }

  /// Takes a name that a shape remembers.
  SEEN_INLINE bool ConsumeRemembered(const PlainShape::Name& name) {
#if defined(__SSE2__)
    if (end_ - at_ < static_cast<ptrdiff_t>(PlainShape::kBytesMax)) return false;
    const __m128i here = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
    const __m128i there = _mm_loadu_si128(reinterpret_cast<const __m128i*>(name.text.data()));
    const auto equal = static_cast<unsigned>(_mm_movemask_epi8(_mm_cmpeq_epi8(here, there)));
    if (name.bytes == 0 || (equal & name.equal_mask) != name.equal_mask) return false;
#else
    if (name.bytes == 0 || end_ - at_ < name.bytes || std::memcmp(at_, name.text.data(), name.bytes) != 0)
      return false;
#endif
    at_ += name.bytes;
    return true;
  }
  /// Remembers the name that was taken since `from`, if it is short enough.
  void Remember(const char* from, uint32_t slot_bit, PlainShape::Name& name) const {
    const auto bytes = static_cast<size_t>(at_ - from);
    name = {};
    if (bytes > PlainShape::kBytesMax) return;
    std::memcpy(name.text.data(), from, bytes);
    name.equal_mask = static_cast<uint16_t>((1u << bytes) - 1);
    name.bytes = static_cast<uint8_t>(bytes);
    name.slot_bit = slot_bit;
  }
  const char* at() const { return at_; }

  /// Skips a value of any kind that begins at `from`. Call it after ConsumeScalar has failed on the value.
  SEEN_INLINE bool SkipValue(const char* from) {
    const PlainSkipped skipped = SkipPlainValue(from, end_);
    if (!skipped.end) return false;
    at_ = skipped.end;
    beyond_ascii_ |= skipped.beyond_ascii;
    return true;
  }

  SEEN_INLINE bool ConsumeString(std::string_view& text) {
    if (!Take('"')) return false;
    const char* const begin = at_;
    if (!FindQuote()) return false;
    text = {begin, static_cast<size_t>(at_ - begin)};
    ++at_;
    return true;
  }

  /// Takes exactly these bytes, after white space.
  template <size_t kBytes>
  SEEN_INLINE bool ConsumeText(const char (&text)[kBytes]) {
    Peek();
    if (end_ - at_ < static_cast<ptrdiff_t>(kBytes - 1) || std::memcmp(at_, text, kBytes - 1) != 0)
      return false;
    at_ += kBytes - 1;
    return true;
  }

  SEEN_INLINE bool ConsumeScalar(Scalar& value) {
    switch (Peek()) {
      case '"':
        value.kind = ScalarKind::kString;
        return ConsumeString(value.text);
      case 'n':
        value = {ScalarKind::kNull, {}};
        return ConsumeWord("null");
      case 't':
        value = {ScalarKind::kBoolean, "true"};
        return ConsumeWord(value.text);
      case 'f':
        value = {ScalarKind::kBoolean, "false"};
        return ConsumeWord(value.text);
      default:
        value.kind = ScalarKind::kInteger;
        return ConsumeInteger(value.text);
    }
  }

 private:
  static constexpr ptrdiff_t kDigitsMax = 18;  // any such number is within 64 bits

  SEEN_INLINE void SkipSpace() {
    if (at_ != end_ && *at_ > ' ') [[likely]]
      return;
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  SEEN_INLINE bool ConsumeWord(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0)
      return false;
    at_ += word.size();
    return true;
  }

  SEEN_INLINE bool ConsumeInteger(std::string_view& text) {
    const char* const begin = at_;
    if (at_ != end_ && *at_ == '-') ++at_;
    const char* const digits = at_;
    const ptrdiff_t count = CountDigits();
    at_ += count;
    // "-0" and "007" aren't canonical; the second isn't even JSON.
    if (count == 0 || count > kDigitsMax || (*digits == '0' && at_ - begin > 1)) return false;
    if (at_ != end_ && (*at_ == '.' || *at_ == 'e' || *at_ == 'E')) return false;
    text = {begin, static_cast<size_t>(at_ - begin)};
    return true;
  }

  SEEN_INLINE ptrdiff_t CountDigits() const {
#if defined(__SSE2__)
    if (end_ - at_ >= 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
      const __m128i values = _mm_sub_epi8(bytes, _mm_set1_epi8('0'));
      const __m128i within = _mm_cmpeq_epi8(_mm_min_epu8(values, _mm_set1_epi8(9)), values);
      const auto others = ~static_cast<unsigned>(_mm_movemask_epi8(within)) & 0xffff;
      if (others != 0) return std::countr_zero(others);
    }
#endif
    const char* end = at_;
    while (end != end_ && *end >= '0' && *end <= '9') ++end;
    return end - at_;
  }

  // Moves to the quote that ends a string; fails on a backslash, a control character or the end.
  SEEN_INLINE bool FindQuote() {
#if defined(__SSE2__)
    for (; end_ - at_ >= 16; at_ += 16) {
      const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
      const __m128i quote = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
      const __m128i escape = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
      const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1f)), bytes);
      const auto stops =
          static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quote, escape), control)));
      const auto high = static_cast<unsigned>(_mm_movemask_epi8(bytes));
      if (stops == 0) {
        beyond_ascii_ |= high != 0;
        continue;
      }
      beyond_ascii_ |= (high & ((stops & -stops) - 1)) != 0;
      at_ += std::countr_zero(stops);
      return *at_ == '"';
    }
#endif
    for (; at_ != end_; ++at_) {
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte == '"') return true;
      if (byte == '\\' || byte < 0x20) return false;
      beyond_ascii_ |= byte >= 0x80;
    }
    return false;
  }

  const char* at_;
  const char* const end_;
  bool beyond_ascii_ = false;
};

#undef SEEN_INLINE

}  // namespace seen
