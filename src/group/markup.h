#pragma once
// Removes the parts of a text that aren't words: tags, entities, and the parts of URLs that differ between
// copies.

#include <string>
#include <string_view>

namespace seen {

/// Appends `text` with ASCII letters in lower case, and ASCII punctuation and white space as single spaces.
/// Never appends more bytes than `text` has. Removes known HTML tags, comments, scripts and styles; a tag
/// that a browser shows within a line leaves no space. Replaces entities by their characters. Removes ASCII
/// control characters, and a URL's scheme, query and fragment. Bytes outside ASCII stay as they are; returns
/// whether there are any. Time is linear in the text.
bool StripMarkup(std::string_view text, std::string& out);

}  // namespace seen
