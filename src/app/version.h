#pragma once
#include <string_view>

namespace seen {
/// As in CMakeLists.txt, e.g. "0.1.0".
inline constexpr std::string_view kVersion = SEEN_VERSION;
}  // namespace seen
