#include "serve/item_routes.h"

#include <nlohmann/json.hpp>

#include "decode/item_group_json.h"
#include "model/event.h"
#include "serve/explanations.h"
#include "serve/percent.h"
#include "serve/problem.h"
#include "serve/query_string.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;

Status CheckId(std::string_view name, std::string_view id) {
  if (!id.empty() && id.size() <= kIdBytesMax) return {};
  return Fail(Code::kInvalidArgument,
              std::string(name) + ": " + std::to_string(id.size()) + " bytes; an item id has 1 to 512 bytes");
}

std::string Dumped(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

// The item is shown as the topic of groups has it.
std::string WriteGroup(const GroupAnswer& answer) {
  Json members = Json::array();
  for (const GroupMember& member : answer.members) {
    members.push_back({{"item_id", member.item_id},
                       {"similarity", member.similarity ? Json(*member.similarity) : Json(nullptr)}});
  }
  std::string text = R"({"group_id":)" + Dumped(answer.item.group_id) + R"(,"item":)";
  WriteItemGroup(answer.item, text);
  text += R"(,"members":)" + Dumped(members) + R"(,"next":)";
  text += answer.next.empty() ? "null" : Dumped(answer.next);
  return text + R"(,"explanation":)" + Dumped(ExplainGroup(answer)) + "}\n";
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

}  // namespace seen
