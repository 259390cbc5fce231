#pragma once
// Captions that stand for a missing text, such as "Untitled". Items that have one aren't copies of each
// other.

#include <span>
#include <string_view>

namespace seen {

struct Placeholder {
  std::string_view lang, caption;
};
/// A change needs another kTextVersion.
std::span<const Placeholder> Placeholders();
inline constexpr size_t kPlaceholderWordsMax = 8;  // no caption has more

}  // namespace seen
