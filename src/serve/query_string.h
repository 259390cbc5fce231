#pragma once
// Reads the query of a request's target, the part behind a '?'.

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace seen {

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
