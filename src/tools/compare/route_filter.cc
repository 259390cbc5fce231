#include "tools/compare/route_filter.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "tools/compare/item_list.h"
#include "tools/compare/key_pattern.h"
#include "tools/whole_file.h"

namespace seen {
namespace {

using Json = nlohmann::json;

Status CheckPointer(const char* option, const std::string& pointer) {
  try {
    const Json::json_pointer parsed(pointer);
    return {};
  } catch (const Json::exception&) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{}: {}: expected a JSON pointer like /items", option, pointer));
  }
}

Status AddHeaders(const std::string& path, HttpClient& http) {
  const auto text = ReadWhole(path);
  if (!text) return Fail(Code::kInvalidArgument, "--route-headers: " + text.error().message);
  std::istringstream lines(*text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    while (line.ends_with('\r') || line.ends_with(' ')) line.pop_back();
    if (line.empty()) continue;
    const size_t colon = line.find(':');
    // The value may be a secret: the message doesn't repeat it.
    if (colon == std::string::npos || colon == 0 || line.find_first_of(" \t") < colon)
      return Fail(Code::kInvalidArgument,
                  fmt::format("--route-headers: {}:{}: expected NAME: VALUE", path, number));
    const size_t value = line.find_first_not_of(" \t", colon + 1);
    http.AddHeader(line.substr(0, colon), value == std::string::npos ? "" : line.substr(value));
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<RouteFilter>> RouteFilter::Make(const RouteOptions& options) {
  if (options.kept.empty() == options.dropped.empty()) {
    return Fail(Code::kInvalidArgument,
                "--route: give either --route-kept or --route-dropped: a JSON pointer like /items");
  }
  const bool has_kept = !options.kept.empty();
  if (Status checked = CheckPointer(has_kept ? "--route-kept" : "--route-dropped",
                                    has_kept ? options.kept : options.dropped);
      !checked)
    return Fail(checked.error());
  if (options.url.starts_with("https://")) {
    return Fail(Code::kInvalidArgument,
                "--route: compare speaks no TLS. Remedy: use a local proxy (stunnel, socat), or --answers");
  }
  constexpr size_t kSchemeBytes = 7;  // http://
  const size_t slash = options.url.find('/', std::min(kSchemeBytes, options.url.size()));
  const std::string base = options.url.substr(0, slash);
  auto http = HttpClient::Make(base, options.timeout, "--route");
  if (!http) return Fail(http.error());
  if (!options.headers_file.empty()) {
    if (Status added = AddHeaders(options.headers_file, *http); !added) return Fail(added.error());
  }
  std::string path = slash == std::string::npos ? "/" : options.url.substr(slash);
  return std::unique_ptr<RouteFilter>(new RouteFilter(options, std::move(path), std::move(*http)));
}

Result<std::vector<Result<OldAnswer>>> RouteFilter::Ask(std::span<const CompareRequest> requests) {
  std::vector<Result<OldAnswer>> answers;
  for (const CompareRequest& request : requests) answers.push_back(AskOne(request));
  return answers;
}

Result<OldAnswer> RouteFilter::AskOne(const CompareRequest& request) {
  const std::string target = ExpandPattern(
      path_, {{"user", PercentEncode(request.user_id)}, {"filter", PercentEncode(request.filter)}});
  std::string body = options_.body == RouteBody::kLine ? request.line : Json{{"items", request.items}}.dump();
  const auto answer = http_.PostJson(target, std::move(body));
  if (!answer) return Fail(answer.error());
  if (answer->status / 100 != 2)
    return Fail(Code::kUnavailable, fmt::format("--route: {} answers {}", target, answer->status));
  const Json json = Json::parse(answer->body, nullptr, false);
  if (json.is_discarded())
    return Fail(Code::kUnavailable, fmt::format("--route: the answer of {} isn't JSON", target));
  const bool listed_are_kept = !options_.kept.empty();
  const Json::json_pointer pointer(listed_are_kept ? options_.kept : options_.dropped);
  if (!json.contains(pointer)) {
    return Fail(Code::kUnavailable,
                fmt::format("--route: the answer of {} has nothing at {}", target, pointer.to_string()));
  }
  const auto listed = ReadItemList(json.at(pointer));
  if (!listed)
    return Fail(Code::kUnavailable, fmt::format("--route: {}: {}", target, listed.error().message));
  return AnswerFromList(request, *listed, listed_are_kept);
}

}  // namespace seen
