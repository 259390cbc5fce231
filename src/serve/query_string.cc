#include "serve/query_string.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "serve/percent.h"

namespace seen {

std::string_view QueryOf(std::string_view target) {
  const size_t mark = target.find('?');
  return mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
}

Result<QueryValues> ParseQuery(std::string_view query, std::span<const std::string_view> known) {
  QueryValues values;
  while (!query.empty()) {
    const std::string_view part = query.substr(0, query.find('&'));
    query.remove_prefix(std::min(query.size(), part.size() + 1));
    const size_t equals = part.find('=');
    const std::string_view name = part.substr(0, equals);
    if (std::find(known.begin(), known.end(), name) == known.end()) {
      return Fail(Code::kInvalidArgument, fmt::format("query: \"{}\" isn't known here; there are: {}",
                                                      name.substr(0, 64), fmt::join(known, ", ")));
    }
    auto value = DecodePathSegment(equals == std::string_view::npos ? "" : part.substr(equals + 1));
    if (!value) return Fail(Code::kInvalidArgument, fmt::format("{}: {}", name, value.error().message));
    if (!values.emplace(name, std::move(*value)).second) {
      return Fail(Code::kInvalidArgument, fmt::format("{}: given twice", name));
    }
  }
  return values;
}

Result<int64_t> ParseNumber(std::string_view name, std::string_view text, int64_t least, int64_t most) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value >= least && value <= most)
    return value;
  return Fail(Code::kInvalidArgument, fmt::format("{}: \"{}\" isn't a whole number in {}..{}", name,
                                                  text.substr(0, 64), least, most));
}

Result<double> ParseDecimal(std::string_view name, std::string_view text, double above, double most) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc{} && end == text.data() + text.size() && value > above && value <= most)
    return value;
  return Fail(Code::kInvalidArgument, fmt::format("{}: \"{}\" isn't a number above {} and at most {}", name,
                                                  text.substr(0, 64), above, most));
}

}  // namespace seen
