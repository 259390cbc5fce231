#include "tools/terminal.h"

#include <fmt/color.h>
#include <unistd.h>

#include <cstdlib>

namespace seen {
namespace {

bool HasColours(std::FILE* stream) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return (none == nullptr || *none == '\0') && terminal != nullptr && std::string_view(terminal) != "dumb" &&
         isatty(fileno(stream)) != 0;
}

fmt::text_style StyleOf(Paint paint) {
  switch (paint) {
    case Paint::kGood:
      return fmt::fg(fmt::terminal_color::green);
    case Paint::kBad:
      return fmt::fg(fmt::terminal_color::red) | fmt::emphasis::bold;
    case Paint::kTitle:
      return fmt::text_style(fmt::emphasis::bold);
  }
  return {};
}

}  // namespace

std::string Painted(Paint paint, std::string_view text, std::FILE* stream) {
  return HasColours(stream) ? fmt::format(StyleOf(paint), "{}", text) : std::string(text);
}

}  // namespace seen
