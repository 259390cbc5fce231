#include "serve/request_input.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/text.h"
#include "model/event.h"

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

std::optional<HttpResponse> RefuseUnlessJson(const HttpRequest& head) {
  constexpr std::string_view kJson = "application/json";
  const std::string_view type = head.content_type.substr(0, head.content_type.find_first_of("; \t"));
  if (type.size() == kJson.size() && strncasecmp(type.data(), kJson.data(), kJson.size()) == 0)
    return std::nullopt;
  return Problem(415, "send it with Content-Type: application/json", head.target);
}

tl::unexpected<Error> RefuseValue(std::string_view path, std::string_view message) {
  return Fail(Code::kInvalidArgument, fmt::format("{}: {}", path, message));
}

namespace {

std::string KnownKeys(std::span<const std::string_view> keys) {
  if (keys.size() == 1) return fmt::format("the only one is \"{}\"", keys[0]);
  return fmt::format("there are \"{}\" and \"{}\"", fmt::join(keys.first(keys.size() - 1), "\", \""),
                     keys.back());
}

}  // namespace

Result<nlohmann::json> ParseBody(std::string_view body, const BodyShape& shape, size_t* list_values) {
  using ParseEvent = nlohmann::json::parse_event_t;
  std::string wrong_key, repeated_key;
  std::vector<std::string> given;
  size_t values = 0;
  const auto keep = [&](int depth, ParseEvent event, nlohmann::json& parsed) {
    if (event == ParseEvent::key && depth == 1) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (std::find(shape.keys.begin(), shape.keys.end(), key) == shape.keys.end()) {
        if (wrong_key.empty()) wrong_key = key.substr(0, 64);
        return false;
      }
      if (std::find(given.begin(), given.end(), key) == given.end()) {
        given.push_back(key);
      } else {
        repeated_key = key;
      }
    }
    const bool begins =
        event == ParseEvent::value || event == ParseEvent::array_start || event == ParseEvent::object_start;
    if (depth == 2 && begins && ++values > shape.list_values_max) return false;
    return depth < shape.depth_max;
  };
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(body, keep);
  } catch (const nlohmann::json::exception& exception) {
    std::string_view what =
        exception.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    if (const size_t end = what.find("] "); end != std::string_view::npos) what.remove_prefix(end + 2);
    return RefuseValue("body", fmt::format("not JSON: {}", what.substr(0, 300)));
  }
  if (!document.is_object())
    return RefuseValue("$", fmt::format("expected an object such as {}", shape.example));
  if (!wrong_key.empty())
    return RefuseValue("$", fmt::format("unknown key \"{}\"; {}", wrong_key, KnownKeys(shape.keys)));
  if (!repeated_key.empty()) return RefuseValue("$." + repeated_key, "given twice");
  if (list_values != nullptr) *list_values = values;
  return document;
}

Status CheckItemId(std::string_view name, std::string_view id) {
  if (!id.empty() && id.size() <= kIdBytesMax) return {};
  return Fail(Code::kInvalidArgument,
              fmt::format("{}: {} bytes; an item id has 1 to 512 bytes", name, id.size()));
}

Result<std::string> ReadItemId(const nlohmann::json& value, std::string_view path,
                               std::string_view expected) {
  if (!value.is_string() && !value.is_number_integer()) {
    return RefuseValue(path, fmt::format("expected {}, found {}", expected,
                                         value.is_number() ? "another number" : value.type_name()));
  }
  std::string id = value.is_string() ? value.get<std::string>() : JsonText(value);
  if (!id.empty() && id.size() <= kIdBytesMax) return id;
  return RefuseValue(path, id.empty() ? "empty; an item id has 1 to 512 bytes"
                                      : fmt::format("{} bytes; an item id has 1 to 512 bytes", id.size()));
}

}  // namespace seen
