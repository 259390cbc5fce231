#include "model/item_group.h"

#include <array>

namespace seen {
namespace {
constexpr std::array<std::string_view, 6> kNames = {"first", "copy", "simhash", "minhash", "both", "no_text"};
}  // namespace

std::string_view FoundByName(FoundBy found) { return kNames[static_cast<size_t>(found)]; }

std::optional<FoundBy> ParseFoundBy(std::string_view name) {
  for (size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == name) return static_cast<FoundBy>(i);
  }
  return std::nullopt;
}

}  // namespace seen
