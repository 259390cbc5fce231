#include "serve/fill_routes.h"

#include <nlohmann/json.hpp>

#include "serve/change_routes.h"
#include "serve/http_message.h"
#include "serve/query_string.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kIdBytesMax = 128;

Json KnownOrNull(int64_t offset) { return offset < 0 ? Json(nullptr) : Json(offset); }

Json FillJson(const FillStatus& fill) {
  Json json = {{"filter", fill.filter},
               {"id", fill.id},
               {"asked_at_ms", fill.asked_at.value},
               {"done", fill.done()},
               {"partitions", Json::array()}};
  for (const FillPartitionStatus& partition : fill.partitions) {
    Json one = {{"partition", partition.partition},
                {"state", partition.state},
                {"from_offset", KnownOrNull(partition.from_offset)},
                {"next_offset", KnownOrNull(partition.next_offset)},
                {"to_offset", KnownOrNull(partition.to_offset)},
                {"users_written", partition.users_written},
                {"complete_since_ms", nullptr},
                {"problem", nullptr}};
    if (partition.complete_since) one["complete_since_ms"] = partition.complete_since->value;
    if (!partition.problem.empty()) one["problem"] = partition.problem;
    json["partitions"].push_back(std::move(one));
  }
  return json;
}

HttpResponse Answer(unsigned status, const Json& json) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

HttpResponse NotYet(const HttpRequest& request) {
  return Problem(503, "starting: no partition is open yet", request.target);
}

Result<std::string> IdOf(std::string_view body) {
  if (body.empty()) return std::string();
  const Json json = Json::parse(body, nullptr, false);
  if (!json.is_object()) return Fail(Code::kInvalidArgument, "$: expected an object, {\"id\":...} or {}");
  for (const auto& [key, value] : json.items()) {
    if (key != "id") return Fail(Code::kInvalidArgument, "$." + key + ": no such member; the only one is id");
    if (!value.is_string()) return Fail(Code::kInvalidArgument, "$.id: expected a string");
  }
  std::string id = json.value("id", "");
  if (id.size() > kIdBytesMax) return Fail(Code::kInvalidArgument, "$.id: at most 128 bytes");
  return id;
}

}  // namespace

HttpResponse StartFill(FillPort* fills, std::string_view filter, const HttpRequest& request) {
  if (auto refusal = RefuseUnlessJson(request)) return std::move(*refusal);
  if (fills == nullptr) return NotYet(request);
  const auto name = DecodePathSegment(filter);
  if (!name) return Problem(400, "filter: " + name.error().message, request.target);
  const auto id = IdOf(request.body);
  if (!id) return Problem(id.error(), request.target);
  const auto started = fills->Start(*name, *id);
  return started ? Answer(202, FillJson(*started)) : Problem(started.error(), request.target);
}

HttpResponse StopFill(FillPort* fills, std::string_view filter, const HttpRequest& request) {
  if (fills == nullptr) return NotYet(request);
  const auto name = DecodePathSegment(filter);
  if (!name) return Problem(400, "filter: " + name.error().message, request.target);
  const auto stopped = fills->Stop(*name);
  return stopped ? Answer(200, FillJson(*stopped)) : Problem(stopped.error(), request.target);
}

HttpResponse AnswerFills(const FillPort* fills, const HttpRequest& request) {
  if (fills == nullptr) return NotYet(request);
  Json json = {{"fills", Json::array()}};
  for (const FillStatus& fill : fills->Figures().fills) json["fills"].push_back(FillJson(fill));
  return Answer(200, json);
}

}  // namespace seen
