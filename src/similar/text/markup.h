#pragma once
// Removes the parts of a text that aren't words: tags, entities, and the parts of URLs that differ between
// copies.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace seen {

/// Appends `text` with ASCII letters in lower case, and ASCII punctuation and white space as single spaces.
/// Never appends more bytes than `text` has. Removes known tags, comments, scripts and styles; a tag that a
/// browser shows within a line leaves no space. Replaces entities by their characters. Removes ASCII control
/// characters, and a URL's scheme, fragment and tracking parameters; a URL without a path keeps the last two.
/// Other bytes outside ASCII stay as they are; returns whether there are any in `out`. Time is linear in the
/// text. `version`: of TextRules. From 4 on, the signs of kAsciiSigns stay where they may count; before, they
/// are punctuation, and a URL's query goes too.
/// Appends to `links` where in `out` each URL begins and ends, alternately.
bool StripMarkup(std::string_view text, uint32_t version, std::string& out,
                 std::vector<uint32_t>* links = nullptr);

}  // namespace seen
