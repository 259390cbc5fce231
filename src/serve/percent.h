#pragma once
// Percent-encoding in paths, RFC 3986 section 2.1, strictly.

#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

/// Decodes one path segment: "u%2F1" is "u/1" and "+" stays "+". kInvalidArgument: a '%' without two hex
/// digits, bytes that aren't UTF-8 once decoded, or a '#', which clients must not send.
Result<std::string> DecodePathSegment(std::string_view segment);

/// Well-formed UTF-8 as Unicode table 3-7 has it: no overlong forms, no surrogates, nothing past U+10FFFF.
bool IsUtf8(std::string_view bytes);

}  // namespace seen
