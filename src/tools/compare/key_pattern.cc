#include "tools/compare/key_pattern.h"

#include <algorithm>

#include "tools/ask/calendar.h"

namespace seen {

std::string ExpandPattern(std::string_view pattern, const std::vector<PatternValue>& values) {
  std::string expanded;
  for (size_t at = 0; at < pattern.size();) {
    // One pass: a user id that looks like {NAME} is not replaced.
    const auto fits = [&](const PatternValue& value) {
      return pattern.substr(at + 1).starts_with(value.name) &&
             pattern.substr(at + 1 + value.name.size()).starts_with('}');
    };
    const auto found = pattern[at] == '{' ? std::find_if(values.begin(), values.end(), fits) : values.end();
    if (found == values.end()) {
      expanded += pattern[at++];
    } else {
      expanded += found->value;
      at += found->name.size() + 2;
    }
  }
  return expanded;
}

bool HasDay(std::string_view pattern) {
  return pattern.find("{day}") != std::string_view::npos ||
         pattern.find("{yyyymmdd}") != std::string_view::npos;
}

std::vector<std::string> KeysOf(std::string_view pattern, std::string_view user_id, std::string_view filter,
                                Day today, int days) {
  std::vector<std::string> keys;
  const int count = HasDay(pattern) ? days : 1;
  for (int ago = 0; ago < count; ++ago) {
    const std::string day = DayText(today - ago);
    std::string digits = day;
    std::erase(digits, '-');
    keys.push_back(
        ExpandPattern(pattern, {{"user", user_id}, {"filter", filter}, {"day", day}, {"yyyymmdd", digits}}));
  }
  return keys;
}

}  // namespace seen
