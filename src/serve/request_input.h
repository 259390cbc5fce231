#pragma once
// Reads what a request gives: its path, its query, and its body if that is a JSON object.

#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "serve/http_message.h"

namespace seen {

// Percent-encoding in paths, RFC 3986 section 2.1, strictly.

/// Decodes one path segment: "u%2F1" is "u/1" and "+" stays "+". kInvalidArgument: a '%' without two hex
/// digits, bytes that aren't UTF-8 once decoded, or a '#', which clients must not send.
Result<std::string> DecodePathSegment(std::string_view segment);

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

// Bodies.

/// 415 for a body that isn't said to be JSON. Pages of other origins can't send JSON without asking first,
/// and this server never grants that.
std::optional<HttpResponse> RefuseUnlessJson(const HttpRequest& head);

/// What an object of a body may be. What is beyond it isn't kept, so that a body costs no more than its
/// bytes.
struct BodyShape {
  std::span<const std::string_view> keys;  // each may be given once
  std::string_view example;                // of such an object, for errors
  int depth_max = 2;                       // values at this depth or deeper are left out
  size_t list_values_max = SIZE_MAX;       // surplus values of lists are left out
};

/// `list_values`: how many values the lists had. kInvalidArgument names the JSON path of what is wrong.
Result<nlohmann::json> ParseBody(std::string_view body, const BodyShape& shape,
                                 size_t* list_values = nullptr);

/// kInvalidArgument: "$.items[3]: empty".
tl::unexpected<Error> RefuseValue(std::string_view path, std::string_view message);

/// kInvalidArgument calls the id `name`.
Status CheckItemId(std::string_view name, std::string_view id);

/// An item's id: a string, or an integer as its decimal string, of 1 to 512 bytes. `expected`: for errors.
Result<std::string> ReadItemId(const nlohmann::json& value, std::string_view path, std::string_view expected);

}  // namespace seen
