#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/text.h"
#include "model/event.h"
#include "serve/answer_json.h"
#include "serve/pages.h"
#include "serve/request_input.h"

namespace seen {
namespace {

/// The JSON of POST /v1/similar: {"title":"...","text":"...","lang":"en","item_id":"n1","limit":10}.
struct SimilarBody {
  std::string title, text, lang, item_id;
  size_t limit = 10;
};

Status ReadText(nlohmann::json& body, const char* key, std::string& out) {
  const auto found = body.find(key);
  if (found == body.end() || found->is_null()) return {};
  if (!found->is_string()) {
    return RefuseValue("$." + std::string(key), std::string("expected a string or null, found ") +
                                                    (found->is_number() ? "a number" : found->type_name()));
  }
  out = std::move(found->get_ref<std::string&>());  // maybe megabytes
  return {};
}

Status ReadLimit(const nlohmann::json& body, size_t& out) {
  const auto found = body.find("limit");
  if (found == body.end() || found->is_null()) return {};
  const bool within =
      found->is_number_unsigned() && found->get<uint64_t>() >= 1 && found->get<uint64_t>() <= kSimilarMax;
  if (!within) {
    return RefuseValue("$.limit", (found->is_number() ? JsonText(*found) : std::string(found->type_name())) +
                                      "; expected an integer from 1 to " + std::to_string(kSimilarMax));
  }
  out = found->get<size_t>();
  return {};
}

/// Title or text is needed, the rest may be absent.
Result<SimilarBody> ParseSimilarBody(std::string_view body) {
  constexpr std::string_view kKeys[] = {"title", "text", "lang", "item_id", "limit"};
  auto document = ParseBody(body, {kKeys, R"({"title":"...","text":"..."})"});
  if (!document) return Fail(document.error());
  SimilarBody read;
  Status ok = ReadText(*document, "title", read.title);
  if (ok) ok = ReadText(*document, "text", read.text);
  if (ok) ok = ReadText(*document, "lang", read.lang);
  if (const auto id = document->find("item_id"); ok && id != document->end() && !id->is_null()) {
    auto item_id = ReadItemId(*id, "$.item_id", "a string, a 64-bit integer or null");
    if (!item_id) return Fail(item_id.error());
    read.item_id = std::move(*item_id);
  }
  if (ok) ok = ReadLimit(*document, read.limit);
  if (!ok) return Fail(ok.error());
  if (read.title.empty() && read.text.empty())
    return RefuseValue("$.text", "missing; give a text, a title or both");
  return read;
}

}  // namespace

HttpResponse AnswerGroup(const PageSources& sources, const RoutedRequest& routed) {
  const std::string_view target = routed.request.target;
  const auto id = DecodePathSegment(routed.parameters[0]);
  if (!id) return Problem(400, "item id: " + id.error().message, target);
  if (Status valid = CheckItemId("item id", *id); !valid) return Problem(valid.error(), target);
  constexpr std::string_view kKnown[] = {"after"};
  const auto query = ParseQuery(QueryOf(target), kKnown);
  if (!query) return Problem(query.error(), target);
  std::string_view after;
  if (const auto given = query->find("after"); given != query->end()) {
    after = given->second;
    if (Status valid = CheckItemId("after", after); !valid) return Problem(valid.error(), target);
  }
  const auto answer = sources.queries.Group(*id, after);
  return answer ? JsonAnswer(WriteGroup(*answer)) : Problem(answer.error(), target);
}

std::optional<HttpResponse> RefuseSimilar(const PageSources& sources, const RoutedRequest& routed) {
  const Status can = sources.queries.CanFindSimilar();
  return can ? std::nullopt : std::optional(Problem(can.error(), routed.request.target));
}

HttpResponse AnswerSimilar(const PageSources& sources, const RoutedRequest& routed) {
  const auto body = ParseSimilarBody(routed.request.body);
  if (!body) return Problem(body.error(), routed.request.target);
  const auto answer =
      sources.queries.Similar({{body->title, body->text, body->lang}, body->item_id, body->limit});
  return answer ? JsonAnswer(WriteSimilarAnswer(*answer)) : Problem(answer.error(), routed.request.target);
}

}  // namespace seen
