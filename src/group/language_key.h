#pragma once

#include <string>
#include <string_view>

namespace seen {

/// By what items of one language come together: the primary subtag of a BCP 47 tag in lower case ("zh" of
/// "zh-Hant-TW"); "und" where there is none. Items of different languages are never compared if their keys
/// have indexes of their own.
inline std::string LanguageKey(std::string_view lang) {
  std::string key(lang.substr(0, lang.find_first_of("-_")));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return key.empty() ? "und" : key;
}

}  // namespace seen
