#pragma once
// What somebody may have meant by a word that isn't known. Any thread.

#include <cstddef>
#include <span>
#include <string_view>

namespace seen {

/// Insertions, deletions and substitutions (Levenshtein's distance), one row at a time (Wagner and Fischer
/// 1974). For short words.
size_t EditDistance(std::string_view a, std::string_view b);

/// The first of the nearest of `words`; empty if there are none.
std::string_view NearestWord(std::span<const std::string_view> words, std::string_view unknown);

}  // namespace seen
