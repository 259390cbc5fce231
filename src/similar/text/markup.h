#pragma once
// Removes the parts of a text that aren't words: tags, entities, and the parts of URLs that differ between
// copies.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace seen {

/// Appends `text` with ASCII letters in lower case, and ASCII punctuation and white space as single spaces.
/// Never appends more bytes than `text` has. Removes known HTML tags, comments, scripts and styles; a tag
/// that a browser shows within a line leaves no space. Replaces entities by their characters. Removes ASCII
/// control characters, and a URL's scheme, query and fragment. Bytes outside ASCII stay as they are; returns
/// whether there are any. Time is linear in the text.
bool StripMarkup(std::string_view text, std::string& out);

/// HTML's names of elements, and of characters that occur in words (entities).
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
