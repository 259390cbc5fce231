#pragma once
// HTML's names of elements, and of characters that occur in words (entities).

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace seen {

enum class TagKind : uint8_t {
  kNone,        // no element of HTML: "<package>" is text
  kWithinLine,  // <b>: the text before and after it may be one word
  kBreak,       // <p>
  kNotShown,    // <script>, <style>: their content isn't shown either
};
inline constexpr size_t kTagNameMax = 10;
TagKind TagKindOf(std::string_view lower_case_name);

inline constexpr size_t kEntityNameMax = 10;
/// The code point of "amp", "eacute", "#8217" or "#x2019". Names are those of HTML 4.01, section 24, without
/// mathematics and arrows. nullopt: there is no such entity.
std::optional<uint32_t> EntityCodePoint(std::string_view name);

}  // namespace seen
