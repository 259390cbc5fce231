#pragma once

#include <string>
#include <string_view>

namespace seen {

/// Appends `text`, which is UTF-8, as a JSON string with its quotes.
inline void AppendJsonString(std::string_view text, std::string& out) {
  constexpr std::string_view kHex = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out.append({'\\', c});
    } else if (byte < 0x20) {
      out.append("\\u00").append({kHex[byte >> 4], kHex[byte & 15]});
    } else {
      out += c;
    }
  }
  out += '"';
}

}  // namespace seen
