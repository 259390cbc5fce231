#pragma once

#include <string>
#include <string_view>

namespace seen {

/// The key that items of one language share: the primary subtag of a BCP 47 tag in lower case. "zh-Hant-TW"
/// has "zh"; without a tag it is "und". Items of different languages are never compared if each key has its
/// own index.
inline std::string LanguageKey(std::string_view lang) {
  std::string key(lang.substr(0, lang.find_first_of("-_")));
  for (char& c : key) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return key.empty() ? "und" : key;
}

}  // namespace seen
