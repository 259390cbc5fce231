#include "serve/item_routes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "model/event.h"
#include "serve/answer_json.h"
#include "serve/http_message.h"
#include "serve/query_string.h"
#include "similar/port/item_group.h"

namespace seen {
namespace {

Status CheckId(std::string_view name, std::string_view id) {
  if (!id.empty() && id.size() <= kIdBytesMax) return {};
  return Fail(Code::kInvalidArgument,
              std::string(name) + ": " + std::to_string(id.size()) + " bytes; an item id has 1 to 512 bytes");
}

}  // namespace

HttpResponse AnswerGroup(const QueryPort& queries, std::string_view item, const HttpRequest& request) {
  const auto id = DecodePathSegment(item);
  if (!id) return Problem(400, "item id: " + id.error().message, request.target);
  if (Status valid = CheckId("item id", *id); !valid) return Problem(valid.error(), request.target);
  constexpr std::string_view kKnown[] = {"after"};
  const auto query = ParseQuery(QueryOf(request.target), kKnown);
  if (!query) return Problem(query.error(), request.target);
  const auto after = query->find("after");
  if (after != query->end()) {
    if (Status valid = CheckId("after", after->second); !valid) return Problem(valid.error(), request.target);
  }
  const auto answer =
      queries.Group(*id, after != query->end() ? std::string_view(after->second) : std::string_view());
  if (!answer) return Problem(answer.error(), request.target);
  HttpResponse response;
  response.content_type = "application/json";
  response.body = WriteGroup(*answer);
  return response;
}

namespace {

constexpr std::array<std::string_view, 5> kKeys = {"title", "text", "lang", "item_id", "limit"};
constexpr int kDepthMax = 2;  // deeper values aren't kept: they are wrong anyway

tl::unexpected<Error> Refuse(std::string_view path, const std::string& message) {
  return Fail(Code::kInvalidArgument, std::string(path) + ": " + message);
}

std::string Found(const nlohmann::json& value) {
  return std::string("found ") + (value.is_number() ? "a number" : value.type_name());
}

Status ReadText(nlohmann::json& body, const char* key, std::string& out) {
  const auto found = body.find(key);
  if (found == body.end() || found->is_null()) return {};
  if (!found->is_string())
    return Refuse("$." + std::string(key), "expected a string or null, " + Found(*found));
  out = std::move(found->get_ref<std::string&>());  // maybe megabytes
  return {};
}

Status ReadId(const nlohmann::json& body, std::string& out) {
  const auto found = body.find("item_id");
  if (found == body.end() || found->is_null()) return {};
  if (!found->is_string() && !found->is_number_integer())
    return Refuse("$.item_id", "expected a string, a 64-bit integer or null, " + Found(*found));
  out = found->is_string() ? found->get<std::string>() : found->dump();
  if (!out.empty() && out.size() <= kIdBytesMax) return {};
  return Refuse("$.item_id", std::to_string(out.size()) + " bytes; an item id has 1 to 512 bytes");
}

Status ReadLimit(const nlohmann::json& body, size_t& out) {
  const auto found = body.find("limit");
  if (found == body.end() || found->is_null()) return {};
  const bool within =
      found->is_number_unsigned() && found->get<uint64_t>() >= 1 && found->get<uint64_t>() <= kSimilarMax;
  if (!within) {
    return Refuse("$.limit", (found->is_number() ? found->dump() : std::string(found->type_name())) +
                                 "; expected an integer from 1 to " + std::to_string(kSimilarMax));
  }
  out = found->get<size_t>();
  return {};
}

}  // namespace

Result<SimilarBody> ParseSimilarBody(std::string_view body) {
  std::string wrong_key;
  std::string repeated_key;
  std::vector<std::string> keys;
  nlohmann::json document;
  try {
    document = nlohmann::json::parse(
        body, [&](int depth, nlohmann::json::parse_event_t event, nlohmann::json& parsed) {
          if (event == nlohmann::json::parse_event_t::key && depth == 1) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (std::find(kKeys.begin(), kKeys.end(), key) == kKeys.end()) {
              if (wrong_key.empty()) wrong_key = "\"" + key.substr(0, 64) + "\"";
              return false;
            } else if (std::find(keys.begin(), keys.end(), key) != keys.end()) {
              repeated_key = key;
            } else {
              keys.push_back(key);
            }
          }
          return depth < kDepthMax;
        });
  } catch (const nlohmann::json::exception& exception) {
    std::string what = exception.what();  // "[json.exception.parse_error.101] parse error at line 1, ..."
    if (const size_t end = what.find("] "); end != std::string::npos) what.erase(0, end + 2);
    return Refuse("body", "not JSON: " + what.substr(0, 300));
  }
  if (!document.is_object()) return Refuse("$", R"(expected an object such as {"title":"...","text":"..."})");
  if (!wrong_key.empty()) {
    return Refuse("$", "unknown key " + wrong_key +
                           "; there are \"title\", \"text\", \"lang\", \"item_id\" and \"limit\"");
  }
  if (!repeated_key.empty()) return Refuse("$." + repeated_key, "given twice");
  SimilarBody read;
  Status ok = ReadText(document, "title", read.title);
  if (ok) ok = ReadText(document, "text", read.text);
  if (ok) ok = ReadText(document, "lang", read.lang);
  if (ok) ok = ReadId(document, read.item_id);
  if (ok) ok = ReadLimit(document, read.limit);
  if (!ok) return Fail(ok.error());
  if (read.title.empty() && read.text.empty())
    return Refuse("$.text", "missing; give a text, a title or both");
  return read;
}

}  // namespace seen
