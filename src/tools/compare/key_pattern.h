#pragma once
// Patterns of keys and URLs, with places for a user, a filter and a day: "seen:{user}:{day}".

#include <string>
#include <string_view>
#include <vector>

#include "model/day.h"

namespace seen {

/// Replaces each {NAME} of `pattern` with its value. Other braces stay: Redis uses them for hash tags.
struct PatternValue {
  std::string_view name;
  std::string_view value;
};
std::string ExpandPattern(std::string_view pattern, const std::vector<PatternValue>& values);

/// Whether the pattern gives a key per day: {day} is 2026-11-21, {yyyymmdd} is 20261121.
bool HasDay(std::string_view pattern);

/// The keys of a user: one key, or one key per day for the `days` days up to `today`, newest first.
std::vector<std::string> KeysOf(std::string_view pattern, std::string_view user_id, std::string_view filter,
                                Day today, int days);

}  // namespace seen
