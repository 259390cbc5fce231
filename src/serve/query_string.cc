#include "serve/query_string.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace seen {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

Result<std::string> DecodePathSegment(std::string_view segment) {
  std::string decoded;
  decoded.reserve(segment.size());
  for (size_t i = 0; i < segment.size(); ++i) {
    const char c = segment[i];
    if (c == '#') return Fail(Code::kInvalidArgument, "a '#' in a path must be sent as %23");
    if (c != '%') {
      decoded.push_back(c);
      continue;
    }
    const int high = i + 1 < segment.size() ? HexDigit(segment[i + 1]) : -1;
    const int low = i + 2 < segment.size() ? HexDigit(segment[i + 2]) : -1;
    if (high < 0 || low < 0) {
      return Fail(Code::kInvalidArgument,
                  "bad percent-encoding at byte " + std::to_string(i) +
                      ": a '%' needs two hex digits after it, and a '%' itself is sent as %25");
    }
    decoded.push_back(static_cast<char>(high * 16 + low));
    i += 2;
  }
  if (!IsUtf8(decoded)) return Fail(Code::kInvalidArgument, "not UTF-8 once percent-decoded");
  return decoded;
}

bool IsUtf8(std::string_view bytes) {
  size_t i = 0;
  while (i < bytes.size()) {
    const auto at = [&](size_t k) -> unsigned {
      return k < bytes.size() ? static_cast<uint8_t>(bytes[k]) : 0;
    };
    const unsigned first = at(i);
    if (first < 0x80) {
      ++i;
      continue;
    }
    // The range of the second byte keeps out overlong forms, surrogates and what is past the end of Unicode.
    unsigned low = 0x80;
    unsigned high = 0xBF;
    size_t length = 0;
    if (first >= 0xC2 && first <= 0xDF) {
      length = 2;
    } else if (first >= 0xE0 && first <= 0xEF) {
      length = 3;
      if (first == 0xE0) low = 0xA0;
      if (first == 0xED) high = 0x9F;
    } else if (first >= 0xF0 && first <= 0xF4) {
      length = 4;
      if (first == 0xF0) low = 0x90;
      if (first == 0xF4) high = 0x8F;
    } else {
      return false;
    }
    if (at(i + 1) < low || at(i + 1) > high) return false;
    for (size_t k = 2; k < length; ++k) {
      if (at(i + k) < 0x80 || at(i + k) > 0xBF) return false;
    }
    i += length;
  }
  return true;
}

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
