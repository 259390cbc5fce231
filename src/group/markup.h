#pragma once
// What of a text isn't its words: tags, entities, addresses' parts that differ between copies.

#include <string>
#include <string_view>

namespace seen {

/// Appends `text` with ASCII letters in lower case and ASCII punctuation and white space as single spaces,
/// never more bytes than it has. Known HTML tags, comments, scripts and styles go (what a browser shows
/// within a line leaves no space); entities become their characters; of URLs the scheme, the query and the
/// fragment go. ASCII control characters go. Bytes outside ASCII stay as they are. Returns whether there are
/// any. Time linear in the text.
bool StripMarkup(std::string_view text, std::string& out);

}  // namespace seen
