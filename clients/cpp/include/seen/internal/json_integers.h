#pragma once
// Just enough JSON for a watermark: the integers of one object's known members; whatever else is in it is
// skipped.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace seen::client::internal {

/// Goes through one JSON object. It takes all valid JSON, and some that isn't (numbers and words are skipped
/// without a look); what it can't make sense of is an error, never a guess. Keys with escapes are not known
/// ones.
class JsonIntegers {
 public:
  explicit JsonIntegers(std::string_view text) : text_(text) {}

  /// Calls `member(name, value)` for each member with an integer, and `other(name)` for each with something
  /// else. False: `text` isn't an object.
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
        other(name);
      }
    } while (Take(','));
    return Take('}') && AtEnd();
  }

 private:
  static constexpr int kDepthMax = 32;

  void SkipSpace() {
    while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
      ++at_;
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
      if (text_[at_] == '"') {
        inside = text_.substr(start, at_ - start);
        ++at_;
        return true;
      }
      if (text_[at_] == '\\') ++at_;
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
    while (at_ < text_.size() &&
           std::string_view(",:{}[]\" \t\r\n").find(text_[at_]) == std::string_view::npos)
      ++at_;
    return at_ > start;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace seen::client::internal
