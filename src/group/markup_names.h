#pragma once
// The names that HTML knows: of elements, and of characters outside ASCII that stand in words.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace seen {

enum class TagKind : uint8_t {
  kNone,        // no element of HTML: "<package>" is text
  kWithinLine,  // <b>: what stands before and after it may be one word
  kBreak,       // <p>
  kNotShown,    // <script>, <style>: nor is what they hold
};
inline constexpr size_t kTagNameMax = 10;
TagKind TagKindOf(std::string_view lower_case_name);

inline constexpr size_t kEntityNameMax = 10;
/// Of "amp", "eacute", "#8217" or "#x2019"; names by HTML 4.01, section 24, without mathematics and arrows.
/// nullopt: none.
std::optional<uint32_t> EntityCodePoint(std::string_view name);

}  // namespace seen
