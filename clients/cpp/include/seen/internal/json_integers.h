#pragma once
// Just enough JSON for a watermark: the integers of one object's known members, and strings on demand;
// whatever else is in it is skipped.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seen::client::internal {

/// Goes through one JSON object of at most 32 levels. What it can't make sense of is an error, never a guess.
/// It takes bytes beyond ASCII as they are, and any four characters behind \u. Keys with escapes are not
/// known ones.
class JsonIntegers {
 public:
  explicit JsonIntegers(std::string_view text) : text_(text) {}

  /// Calls `member(name, value)` for each member with an integer, and `other(name, text)` for each with
  /// something else. False: `text` isn't an object.
  template <typename Member, typename Other>
  bool ForEach(Member member, Other other) {
    if (!Take('{')) return false;
    if (Take('}')) return AtEnd();
    do {
      std::string_view name;
      if (!TakeString(name) || !Take(':')) return false;
      SkipSpace();
      const std::size_t start = at_;
      if (!SkipValue(0)) return false;
      const std::string_view value = text_.substr(start, at_ - start);
      std::int64_t number = 0;
      const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
      if (error == std::errc() && end == value.data() + value.size()) {
        member(name, number);
      } else {
        other(name, value);
      }
    } while (Take(','));
    return Take('}') && AtEnd();
  }

  /// The string that `text`, one of `other`'s, stands for. nullopt: it is something else, or broken.
  static std::optional<std::string> StringOf(std::string_view text) {
    if (text.size() < 2 || text.front() != '"' || text.back() != '"') return std::nullopt;
    text = text.substr(1, text.size() - 2);
    std::string string;
    while (!text.empty()) {
      const char c = text.front();
      text.remove_prefix(1);
      if (c != '\\') {
        string += c;
      } else if (!TakeEscape(text, string)) {
        return std::nullopt;
      }
    }
    return string;
  }

 private:
  static constexpr int kDepthMax = 32;

  void SkipSpace() {
    while (at_ < text_.size() && IsOneOf(text_[at_], " \t\r\n")) ++at_;
  }
  bool Take(char c) {
    SkipSpace();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  bool AtEnd() {
    SkipSpace();
    return at_ == text_.size();
  }
  bool TakeString(std::string_view& inside) {
    if (!Take('"')) return false;
    const std::size_t start = at_;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '"') {
        inside = text_.substr(start, at_ - start);
        ++at_;
        return true;
      }
      if (static_cast<unsigned char>(c) < 0x20) return false;
      if (c == '\\' && (++at_ == text_.size() || !IsOneOf(text_[at_], "\"\\/bfnrtu"))) return false;
    }
    return false;
  }
  /// An object or an array of values, `pairs` saying which.
  bool SkipInside(char close, bool pairs, int depth) {
    std::string_view name;
    if (Take(close)) return true;
    do {
      if (pairs && (!TakeString(name) || !Take(':'))) return false;
      if (!SkipValue(depth + 1)) return false;
    } while (Take(','));
    return Take(close);
  }
  bool SkipValue(int depth) {
    std::string_view text;
    if (depth > kDepthMax) return false;
    if (Take('{')) return SkipInside('}', true, depth);
    if (Take('[')) return SkipInside(']', false, depth);
    if (at_ < text_.size() && text_[at_] == '"') return TakeString(text);
    const std::size_t start = at_;
    while (at_ < text_.size() && !IsOneOf(text_[at_], ",:{}[]\" \t\r\n")) ++at_;
    text = text_.substr(start, at_ - start);
    return text == "true" || text == "false" || text == "null" || IsNumber(text);
  }

  /// What follows a backslash.
  static bool TakeEscape(std::string_view& text, std::string& string) {
    constexpr std::string_view kNames = "\"\\/bfnrt", kCharacters = "\"\\/\b\f\n\r\t";
    if (text.empty()) return false;
    const char name = text.front();
    text.remove_prefix(1);
    if (name == 'u') return TakeUnicode(text, string);
    const std::size_t at = kNames.find(name);
    if (at != std::string_view::npos) string += kCharacters[at];
    return at != std::string_view::npos;
  }
  /// What follows \u, as UTF-8. Beyond 16 bits there are two of them, a high and a low surrogate.
  static bool TakeUnicode(std::string_view& text, std::string& string) {
    std::uint32_t code = 0, low = 0;
    if (!TakeHex(text, code)) return false;
    if (code >= 0xd800 && code < 0xe000) {
      if (code >= 0xdc00 || text.substr(0, 2) != "\\u") return false;
      text.remove_prefix(2);
      if (!TakeHex(text, low) || low < 0xdc00 || low >= 0xe000) return false;
      code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
    }
    const int more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
    constexpr std::uint32_t kFirst[] = {0, 0xc0, 0xe0, 0xf0};
    string += static_cast<char>(kFirst[more] | code >> (6 * more));
    for (int i = more - 1; i >= 0; --i) string += static_cast<char>(0x80 | (code >> (6 * i) & 0x3f));
    return true;
  }
  static bool TakeHex(std::string_view& text, std::uint32_t& code) {
    constexpr std::size_t kDigits = 4;
    if (text.size() < kDigits) return false;
    const auto [end, error] = std::from_chars(text.data(), text.data() + kDigits, code, 16);
    if (error != std::errc() || end != text.data() + kDigits) return false;
    text.remove_prefix(kDigits);
    return true;
  }

  static bool IsOneOf(char c, std::string_view characters) {
    return characters.find(c) != std::string_view::npos;
  }
  /// -?(0|[1-9][0-9]*)(.[0-9]+)?([eE][+-]?[0-9]+)?
  static bool IsNumber(std::string_view text) {
    const auto take = [&text](std::string_view characters) {
      const bool is_there = !text.empty() && IsOneOf(text[0], characters);
      if (is_there) text.remove_prefix(1);
      return is_there;
    };
    const auto take_digits = [&] {
      const std::size_t before = text.size();
      while (take("0123456789")) {
      }
      return text.size() < before;
    };
    take("-");
    if (!take("0") && !take_digits()) return false;
    if (take(".") && !take_digits()) return false;
    if (take("eE")) {
      take("+-");
      if (!take_digits()) return false;
    }
    return text.empty();
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace seen::client::internal
