#include "decode/plain_scanner.h"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace seen {
namespace {

constexpr int kLevelsMax = 32;
constexpr ptrdiff_t kDigitsMax = 18;    // of an integer, or before the point
constexpr ptrdiff_t kFractionMax = 40;  // digits
constexpr ptrdiff_t kExponentMax = 2;   // digits: far below what a double can't hold

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsHex(char c) { return IsDigit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

class Skipper {
 public:
  Skipper(const char* at, const char* end) : at_(at), end_(end) {}

  PlainSkipped Skip() {
    uint32_t objects = 0;  // a bit per level: 1 for an object
    int level = 0;
    while (true) {
      // A value begins here.
      if (const char open = Peek(); open == '{' || open == '[') {
        if (level == kLevelsMax) return {};
        ++at_;
        const bool object = open == '{';
        objects = objects << 1 | uint32_t{object};
        ++level;
        if (Peek() == (object ? '}' : ']')) {
          ++at_;
          objects >>= 1;
          --level;
        } else {
          if (object && !SkipName()) return {};
          continue;
        }
      } else if (!SkipScalar(open)) {
        return {};
      }
      // The value has ended here, maybe together with the values around it.
      while (level > 0 && Peek() != ',') {
        if (Peek() != ((objects & 1) != 0 ? '}' : ']')) return {};
        ++at_;
        objects >>= 1;
        --level;
      }
      if (level == 0) return {at_, beyond_ascii_};
      ++at_;
      if ((objects & 1) != 0 && !SkipName()) return {};
    }
  }

 private:
  // The next character that isn't white space, without taking it; 0 at the end.
  char Peek() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
    return at_ == end_ ? '\0' : *at_;
  }
  bool SkipName() {
    if (Peek() != '"' || !SkipString() || Peek() != ':') return false;
    ++at_;
    return true;
  }
  bool SkipScalar(char first) {
    switch (first) {
      case '"':
        return SkipString();
      case 't':
        return SkipWord("true");
      case 'f':
        return SkipWord("false");
      case 'n':
        return SkipWord("null");
      default:
        return SkipNumber();
    }
  }
  bool SkipWord(std::string_view word) {
    if (static_cast<size_t>(end_ - at_) < word.size() || std::memcmp(at_, word.data(), word.size()) != 0)
      return false;
    at_ += word.size();
    return true;
  }
  bool SkipString() {
    for (++at_; at_ != end_; ++at_) {
      const auto byte = static_cast<unsigned char>(*at_);
      if (byte == '"') {
        ++at_;
        return true;
      }
      if (byte < 0x20 || (byte == '\\' && !SkipEscape())) return false;
      beyond_ascii_ |= byte >= 0x80;
    }
    return false;
  }
  // Moves to the last byte of the escape.
  bool SkipEscape() {
    if (++at_ == end_) return false;
    if (*at_ != 'u') return std::string_view(R"("\/bfnrt)").find(*at_) != std::string_view::npos;
    if (end_ - at_ < 5) return false;
    for (int i = 1; i <= 4; ++i) {
      if (!IsHex(at_[i])) return false;
    }
    // A surrogate is half a character, or one of two escapes: JSON readers differ about it.
    const bool surrogate = (at_[1] == 'd' || at_[1] == 'D') && !(at_[2] >= '0' && at_[2] <= '7');
    at_ += 4;
    return !surrogate;
  }
  // Returns the number of digits: at least one and at most `most`, else 0.
  ptrdiff_t SkipDigits(ptrdiff_t most) {
    const char* const begin = at_;
    while (at_ != end_ && IsDigit(*at_)) ++at_;
    return at_ - begin <= most ? at_ - begin : 0;
  }
  bool SkipNumber() {
    if (at_ != end_ && *at_ == '-') ++at_;
    const char* const digits = at_;
    const ptrdiff_t count = SkipDigits(kDigitsMax);
    if (count == 0 || (*digits == '0' && count > 1)) return false;
    if (at_ != end_ && *at_ == '.') {
      ++at_;
      if (SkipDigits(kFractionMax) == 0) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (SkipDigits(kExponentMax) == 0) return false;
    }
    return true;
  }

  const char* at_;
  const char* const end_;
  bool beyond_ascii_ = false;
};

}  // namespace

PlainSkipped SkipPlainValue(const char* at, const char* end) { return Skipper(at, end).Skip(); }

}  // namespace seen
