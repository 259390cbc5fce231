#pragma once
// Captions that stand for a missing text, such as "Untitled". Items that have nothing else, but for links and
// emoji, aren't copies of each other.

#include <cstddef>
#include <span>
#include <string_view>

namespace seen {

/// In eleven languages. A change needs another kTextVersion.
std::span<const std::string_view> Placeholders();

// No caption has more.
inline constexpr size_t kCaptionWordsMax = 3;
inline constexpr size_t kCaptionBytesMax = 40;

}  // namespace seen
