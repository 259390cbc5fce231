#pragma once
// Small functions of text.

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seen {

/// HOST:PORT: the form in which configurations and daemons name an address to listen on.
struct HostPort {
  std::string host;  // without brackets: "::1" for "[::1]:80"
  std::string port;  // empty: the text has no port
};

inline HostPort SplitHostPort(std::string_view text) {
  const size_t colon = text.rfind(':');
  const bool has_port = colon != std::string_view::npos && text.find(']', colon) == std::string_view::npos;
  std::string_view host = text.substr(0, has_port ? colon : text.size());
  const std::string_view port = has_port ? text.substr(colon + 1) : std::string_view();
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  return {std::string(host), std::string(port)};
}

// Finds the word that somebody may have meant by an unknown word. Any thread.

/// Insertions, deletions and substitutions (Levenshtein's distance), one row at a time (Wagner and Fischer
/// 1974). For short words.
inline size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (const char letter : a) {
    size_t diagonal = std::exchange(row[0], row[0] + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const size_t substituted = diagonal + (letter == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({substituted, row[j + 1] + 1, row[j] + 1});
    }
  }
  return row[b.size()];
}

/// The word of `words` with the least edit distance, the first of several; empty if `words` is empty.
inline std::string_view NearestWord(std::span<const std::string_view> words, std::string_view unknown) {
  const auto nearest = std::min_element(words.begin(), words.end(), [&](auto a, auto b) {
    return EditDistance(unknown, a) < EditDistance(unknown, b);
  });
  return nearest == words.end() ? std::string_view() : *nearest;
}

// Text from outside: ids, names and values of events, files and topics. It may hold any bytes.

/// The length in bytes of the valid UTF-8 sequence at the start of `text`; 0: there is none. Unicode 15,
/// table 3-7.
size_t Utf8Length(std::string_view text);
/// Whether all of `text` is UTF-8: no overlong forms, no surrogates, nothing past U+10FFFF.
bool IsUtf8(std::string_view text);

/// `text` as a terminal may show it, in valid UTF-8. Control characters, also those for the direction of
/// text, and bytes that aren't UTF-8 become \xNN. PrintableLines keeps ends of lines.
std::string Printable(std::string_view text);
std::string PrintableLines(std::string_view text);

/// `json` as text. The only way to write JSON: bytes that aren't UTF-8 become U+FFFD, and never an exception.
template <typename Json>
std::string JsonText(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace seen
