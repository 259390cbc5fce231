#pragma once
// Reads the query of a request's target, the part behind a '?'.

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

// Percent-encoding in paths, RFC 3986 section 2.1, strictly.

/// Decodes one path segment: "u%2F1" is "u/1" and "+" stays "+". kInvalidArgument: a '%' without two hex
/// digits, bytes that aren't UTF-8 once decoded, or a '#', which clients must not send.
Result<std::string> DecodePathSegment(std::string_view segment);

/// Well-formed UTF-8 as Unicode table 3-7 has it: no overlong forms, no surrogates, nothing past U+10FFFF.
bool IsUtf8(std::string_view bytes);

/// The part of a request's target behind the '?'; empty: there is none.
std::string_view QueryOf(std::string_view target);

using QueryValues = std::map<std::string, std::string, std::less<>>;

/// Parses "a=1&b=%2F" with the names in `known`, each at most once. Values are decoded as path segments are
/// ("+" stays "+"). kInvalidArgument names what is wrong. Any thread.
Result<QueryValues> ParseQuery(std::string_view query, std::span<const std::string_view> known);

/// A whole number in decimal, from `least` to `most`. kInvalidArgument calls it `name`.
Result<int64_t> ParseNumber(std::string_view name, std::string_view text, int64_t least, int64_t most);

/// A number in decimal, e.g. 0.01 or 1e-3, above `above` and at most `most`.
Result<double> ParseDecimal(std::string_view name, std::string_view text, double above, double most);

}  // namespace seen
