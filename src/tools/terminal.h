#pragma once
// What a person at a terminal sees: colours. None where the output isn't a terminal, with NO_COLOR
// (no-color.org), or with TERM=dumb. One thread.

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace seen {

enum class Paint : uint8_t { kGood, kBad, kTitle };

/// `text` as it is to be written to `stream`.
std::string Painted(Paint paint, std::string_view text, std::FILE* stream);

}  // namespace seen
