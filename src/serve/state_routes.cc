#include "serve/state_routes.h"

#include <limits>
#include <nlohmann/json.hpp>

#include "serve/answer_json.h"
#include "serve/change_routes.h"
#include "serve/http_message.h"
#include "serve/query_string.h"

namespace seen {
namespace {

HttpResponse Answer(unsigned status, const nlohmann::ordered_json& body) {
  HttpResponse response;
  response.status = status;
  response.content_type = "application/json";
  response.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  return response;
}

HttpResponse NotYet(const HttpRequest& request) {
  return Problem(503, "starting: no partition is open yet", request.target);
}

Result<DigestQuestion> ParseDigestQuestion(std::string_view target) {
  constexpr std::string_view kKnown[] = {"partition", "as_of_ms", "copy"};
  const auto query = ParseQuery(QueryOf(target), kKnown);
  if (!query) return Fail(query.error());
  const auto text = [&](std::string_view name) {
    const auto found = query->find(name);
    return found == query->end() ? std::string() : found->second;
  };
  DigestQuestion question;
  const auto partition = ParseNumber("partition", text("partition"), 0, std::numeric_limits<int32_t>::max());
  if (!partition) return Fail(partition.error());
  question.partition = static_cast<int32_t>(*partition);
  question.copy = text("copy");
  if (query->contains("as_of_ms")) {
    constexpr int64_t kMsMost = int64_t{std::numeric_limits<uint32_t>::max()} * 1000;
    const auto as_of = ParseNumber("as_of_ms", text("as_of_ms"), 0, kMsMost);
    if (!as_of) return Fail(as_of.error());
    question.as_of = TimeMs{*as_of};
  }
  return question;
}

}  // namespace

HttpResponse AnswerDigest(StateCopiesPort* copies, const HttpRequest& request) {
  if (copies == nullptr) return NotYet(request);
  const auto question = ParseDigestQuestion(request.target);
  if (!question) return Problem(question.error(), request.target);
  const auto digest = copies->Digest(*question);
  if (!digest) return Problem(digest.error(), request.target);
  if (!*digest) {
    HttpResponse response = Answer(202, {{"partition", question->partition}, {"state", "under way"}});
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }
  return Answer(200, PartitionDigestToJson(**digest));
}

HttpResponse MakeCopy(StateCopiesPort* copies, const HttpRequest& request) {
  if (auto refusal = RefuseUnlessJson(request)) return std::move(*refusal);
  if (copies == nullptr) return NotYet(request);
  const auto copy = copies->Copy();
  if (!copy) return Problem(copy.error(), request.target);
  nlohmann::ordered_json json = {{"copy", copy->id},
                                 {"folder", copy->folder},
                                 {"topic", copy->topic},
                                 {"partitioner", copy->partitioner},
                                 {"partitions_total", copy->partitions_total},
                                 {"partitions", nlohmann::ordered_json::array()}};
  for (const CopiedPartition& partition : copy->partitions)
    json["partitions"].push_back({{"partition", partition.partition}, {"folder", partition.folder}});
  return Answer(200, json);
}

HttpResponse ReleaseCopy(StateCopiesPort* copies, std::string_view copy, const HttpRequest& request) {
  const auto id = DecodePathSegment(copy);
  if (!id) return Problem(400, "copy: " + id.error().message, request.target);
  if (copies == nullptr) return NotYet(request);
  if (Status released = copies->Release(*id); !released) return Problem(released.error(), request.target);
  return Answer(200, {{"released", *id}});
}

}  // namespace seen
