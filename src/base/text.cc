#include "base/text.h"

#include <fmt/format.h>

namespace seen {

size_t Utf8Length(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
  const auto follows = [&](size_t i, unsigned low = 0x80, unsigned high = 0xBF) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    return follows(1, first == 0xE0 ? 0xA0 : 0x80, first == 0xED ? 0x9F : 0xBF) && follows(2) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const bool second = follows(1, first == 0xF0 ? 0x90 : 0x80, first == 0xF4 ? 0x8F : 0xBF);
    return second && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

bool IsUtf8(std::string_view text) {
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

namespace {

/// U+202A to U+202E and U+2066 to U+2069 show the text behind them in another order than it has.
bool OrdersText(std::string_view character) {
  return (character >= "\u202a" && character <= "\u202e") || (character >= "\u2066" && character <= "\u2069");
}

std::string Escaped(std::string_view text, bool keeps_lines) {
  std::string shown;
  shown.reserve(text.size());
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text.front());
    const size_t length = Utf8Length(text);
    const bool is_line_end = keeps_lines && byte == '\n';
    // U+0080 to U+009F are control characters, too: U+009B begins the commands of a terminal.
    const bool is_control = length == 2 ? byte == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0
                                        : byte < 0x20 || byte == 0x7F || OrdersText(text.substr(0, length));
    const size_t taken = length == 0 ? 1 : length;
    for (const char each : text.substr(0, taken)) {
      if (length == 0 || (is_control && !is_line_end)) {
        shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(each));
      } else {
        shown += each;
      }
    }
    text.remove_prefix(taken);
  }
  return shown;
}

}  // namespace

std::string Printable(std::string_view text) { return Escaped(text, false); }
std::string PrintableLines(std::string_view text) { return Escaped(text, true); }

}  // namespace seen
