#pragma once
// Colours for a person at a terminal. No colours if the output isn't a terminal, with NO_COLOR
// (no-color.org), without TERM, or with TERM=dumb. One thread.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace seen {

enum class Paint : uint8_t { kGood, kBad, kTitle };

/// `text` in the form to write to `stream`: with colours if `stream` shows them.
std::string Painted(Paint paint, std::string_view text, std::FILE* stream);

}  // namespace seen
