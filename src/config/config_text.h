#pragma once
// Configuration text -> JSON document. Also names and shows parts of the document in errors.

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "config/config.h"

namespace seen {

using ConfigJson = nlohmann::ordered_json;

/// JSON with // and /* */ comments. A syntax error gives line and column. Further errors: keys given twice
/// (all are reported), and nesting beyond 32 levels. An empty text is an empty object.
tl::expected<ConfigJson, std::vector<ConfigError>> ParseConfigText(std::string_view text);

/// "filters[0]" + "name" -> "filters[0].name". A key with unusual characters is quoted: x["a b"].
std::string JoinPath(std::string_view path, std::string_view key);
std::string JoinPath(std::string_view path, size_t index);

/// The text at a JSON pointer; empty if there is no text.
std::string TextAt(const ConfigJson& document, const char* pointer);

/// A value on one line, shortened.
std::string ShowValue(const ConfigJson& value);

}  // namespace seen
