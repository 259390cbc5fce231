#pragma once
// The names that StripMarkup knows: of elements, characters and parameters of links.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace seen {

enum class TagKind : uint8_t {
  kNone,        // no element: "<package>" is text
  kWithinLine,  // <b>: the text before and after it may be one word
  kBreak,       // <p>
  kNotShown,    // <script>, <style>, <svg>: their content isn't shown either
  kMath,        // <mn>: a break within <math>; elsewhere no element
};
inline constexpr size_t kTagNameMax = 48;
/// Elements of HTML. `version`: of TextRules. From 4 on also those of MathML, AMP, Office and page plugins.
TagKind TagKindOf(std::string_view lower_case_name, uint32_t version);

inline constexpr size_t kTrackingNameMax = 24;
/// Whether a parameter of a link's query says who shared the link, and not what it leads to.
bool IsTracking(std::string_view lower_case_name);

inline constexpr size_t kEntityNameMax = 10;
/// The code point of "amp", "eacute", "#8217" or "#x2019". Names are those of HTML 4.01, section 24, before
/// version 5 without mathematics and arrows. nullopt: there is no such entity.
std::optional<uint32_t> EntityCodePoint(std::string_view name, uint32_t version);

}  // namespace seen
