#pragma once
// Finds the word that somebody may have meant by an unknown word. Any thread.

#include <cstddef>
#include <span>
#include <string_view>

namespace seen {

/// Insertions, deletions and substitutions (Levenshtein's distance), one row at a time (Wagner and Fischer
/// 1974). For short words.
size_t EditDistance(std::string_view a, std::string_view b);

/// The word of `words` with the least edit distance, the first of several; empty if `words` is empty.
std::string_view NearestWord(std::span<const std::string_view> words, std::string_view unknown);

}  // namespace seen
