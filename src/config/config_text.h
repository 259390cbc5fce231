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

// A string given as {"env": "NAME"} or {"file": "PATH"}: the value stands outside the configuration.

/// Whether `value` is meant as a reference: an object with a key "env" or "file".
bool IsSecretReference(const ConfigJson& value);

/// Reads the value of `reference`. A file may have at most 64 KiB, and loses one line end at its end. The
/// error completes "PATH: " and never contains the value.
tl::expected<std::string, std::string> ReadSecret(const ConfigJson& reference);

/// Whether a librdkafka property of this name holds a secret. The daemon never shows such a value, whatever
/// its source.
bool IsSecretProperty(std::string_view property);

/// --print-config shows this in place of a secret that stands in the configuration itself: a reference to an
/// environment variable named after the property.
ConfigJson SecretPlaceholder(std::string_view property);

}  // namespace seen
