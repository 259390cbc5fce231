#include "base/nearest_word.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace seen {

size_t EditDistance(std::string_view a, std::string_view b) {
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

std::string_view NearestWord(std::span<const std::string_view> words, std::string_view unknown) {
  const auto nearest = std::min_element(words.begin(), words.end(), [&](auto a, auto b) {
    return EditDistance(unknown, a) < EditDistance(unknown, b);
  });
  return nearest == words.end() ? std::string_view() : *nearest;
}

}  // namespace seen
