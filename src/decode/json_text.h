#pragma once

#include <string>
#include <string_view>

namespace seen {

/// Appends `text`, which is UTF-8, as a JSON string with its quotes.
void AppendJsonString(std::string_view text, std::string& out);

}  // namespace seen
