#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "serve/answer_json.h"
#include "serve/metrics.h"
#include "serve/pages.h"
#include "serve/request_input.h"

namespace seen {
namespace {

using Json = nlohmann::ordered_json;
constexpr size_t kFillIdBytesMax = 128;

HttpResponse NotYet(const RoutedRequest& routed) {
  return Problem(503, "starting: no partition is open yet", routed.request.target);
}

HttpResponse Answered(const Json& json, unsigned status = 200) { return JsonAnswer(DumpLine(json), status); }

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

/// Empty: the daemon chooses the id.
Result<std::string> FillIdOf(std::string_view body) {
  if (body.empty()) return std::string();
  constexpr std::string_view kKeys[] = {"id"};
  const auto object = ParseBody(body, {kKeys, R"({"id":"..."} or {})"});
  if (!object) return Fail(object.error());
  const auto id = object->find("id");
  if (id == object->end()) return std::string();
  if (!id->is_string()) return RefuseValue("$.id", "expected a string");
  auto text = id->get<std::string>();
  if (text.size() > kFillIdBytesMax) return RefuseValue("$.id", "at most 128 bytes");
  return text;
}

Json RoutesJson(const RoutesAnswer& answer) {
  Json json = {{"topic", answer.topic},
               {"partitioner", answer.partitioner},
               {"partitions", answer.partitions},
               {"routes", Json::array()}};
  for (const PartitionRoute& route : answer.routes) {
    Json one = {{"partition", route.partition},
                {"instance", route.instance},
                {"address", nullptr},
                {"state", route.state},
                {"next_offset", route.next_offset},
                {"lag_messages", route.lag_messages},
                {"unpublished_users", route.unpublished_users},
                {"heard_ms_ago", route.heard_ago.count()},
                {"here", route.here},
                {"role", route.is_replica ? "replica" : "owner"}};
    if (!route.address.empty()) one["address"] = route.address;
    json["routes"].push_back(std::move(one));
  }
  return json;
}

}  // namespace

HttpResponse TextAnswer(std::string body) {
  return {.content_type = "text/plain; charset=utf-8", .headers = {}, .body = std::move(body)};
}

HttpResponse JsonAnswer(std::string body, unsigned status) {
  return {.status = status, .content_type = "application/json", .headers = {}, .body = std::move(body)};
}

HttpResponse AnswerHealth(const PageSources& /*sources*/, const RoutedRequest& /*routed*/) {
  return TextAnswer("alive\n");
}

HttpResponse AnswerReady(const PageSources& sources, const RoutedRequest& routed) {
  const DaemonStatus status = sources.queries.GetStatus();
  if (!status.ready) return Problem(503, status.not_ready_reason, routed.request.target);
  std::string text = "ready\n";
  for (const std::string& trouble : status.troubles) text += trouble + "\n";
  return TextAnswer(std::move(text));
}

HttpResponse AnswerMetrics(const PageSources& sources, const RoutedRequest& /*routed*/) {
  HttpResponse response = TextAnswer(sources.metrics_page());
  response.content_type = "text/plain; version=0.0.4; charset=utf-8";
  return response;
}

HttpResponse AnswerStatus(const PageSources& sources, const RoutedRequest& /*routed*/) {
  return JsonAnswer(WriteStatus(sources.queries.GetStatus()));
}

HttpResponse AnswerRoutes(const PageSources& sources, const RoutedRequest& /*routed*/) {
  const RoutePort* const routes = sources.cluster.routes;
  return Answered(RoutesJson(routes != nullptr ? routes->Routes() : RoutesAnswer()));
}

HttpResponse AcknowledgeLostRanges(const PageSources& sources, const RoutedRequest& /*routed*/) {
  sources.queries.AcknowledgeLostRanges();
  return Answered({{"acknowledged", true}});
}

HttpResponse PublishAll(const PageSources& sources, const RoutedRequest& routed) {
  const auto partitions = sources.queries.PublishAll();
  return partitions ? Answered({{"partitions", *partitions}}, 202)
                    : Problem(partitions.error(), routed.request.target);
}

HttpResponse ReloadConfiguration(const PageSources& sources, const RoutedRequest& routed) {
  ReloadPort* const reload = sources.reload;
  if (reload == nullptr)
    return Problem(503, "starting: there is nothing to reload yet", routed.request.target);
  const auto report = reload->Run();
  if (!report) return Problem(report.error(), routed.request.target);
  return Answered({{"applied", report->applied}, {"waits_for_restart", report->waits_for_restart}});
}

HttpResponse AnswerDigest(const PageSources& sources, const RoutedRequest& routed) {
  StateCopiesPort* const copies = sources.copies;
  if (copies == nullptr) return NotYet(routed);
  const auto question = ParseDigestQuestion(routed.request.target);
  if (!question) return Problem(question.error(), routed.request.target);
  const auto digest = copies->Digest(*question);
  if (!digest) return Problem(digest.error(), routed.request.target);
  if (*digest) return Answered(PartitionDigestToJson(**digest));
  HttpResponse response = Answered({{"partition", question->partition}, {"state", "under way"}}, 202);
  response.headers.emplace_back("Retry-After", "1");
  return response;
}

HttpResponse MakeCopy(const PageSources& sources, const RoutedRequest& routed) {
  StateCopiesPort* const copies = sources.copies;
  if (copies == nullptr) return NotYet(routed);
  const auto copy = copies->Copy();
  if (!copy) return Problem(copy.error(), routed.request.target);
  Json json = {{"copy", copy->id},
               {"folder", copy->folder},
               {"topic", copy->topic},
               {"partitioner", copy->partitioner},
               {"partitions_total", copy->partitions_total},
               {"partitions", Json::array()}};
  for (const CopiedPartition& partition : copy->partitions)
    json["partitions"].push_back({{"partition", partition.partition}, {"folder", partition.folder}});
  return Answered(json);
}

HttpResponse ReleaseCopy(const PageSources& sources, const RoutedRequest& routed) {
  const auto id = DecodePathSegment(routed.parameters[0]);
  if (!id) return Problem(400, "copy: " + id.error().message, routed.request.target);
  StateCopiesPort* const copies = sources.copies;
  if (copies == nullptr) return NotYet(routed);
  const Status released = copies->Release(*id);
  return released ? Answered({{"released", *id}}) : Problem(released.error(), routed.request.target);
}

HttpResponse StartFill(const PageSources& sources, const RoutedRequest& routed) {
  FillPort* const fills = sources.fills;
  if (fills == nullptr) return NotYet(routed);
  const auto filter = DecodePathSegment(routed.parameters[0]);
  if (!filter) return Problem(400, "filter: " + filter.error().message, routed.request.target);
  const auto id = FillIdOf(routed.request.body);
  if (!id) return Problem(id.error(), routed.request.target);
  const auto started = fills->Start(*filter, *id);
  return started ? Answered(FillJson(*started), 202) : Problem(started.error(), routed.request.target);
}

HttpResponse StopFill(const PageSources& sources, const RoutedRequest& routed) {
  FillPort* const fills = sources.fills;
  if (fills == nullptr) return NotYet(routed);
  const auto filter = DecodePathSegment(routed.parameters[0]);
  if (!filter) return Problem(400, "filter: " + filter.error().message, routed.request.target);
  const auto stopped = fills->Stop(*filter);
  return stopped ? Answered(FillJson(*stopped)) : Problem(stopped.error(), routed.request.target);
}

HttpResponse AnswerFills(const PageSources& sources, const RoutedRequest& routed) {
  const FillPort* const fills = sources.fills;
  if (fills == nullptr) return NotYet(routed);
  Json json = {{"fills", Json::array()}};
  for (const FillStatus& fill : fills->Figures().fills) json["fills"].push_back(FillJson(fill));
  return Answered(json);
}

}  // namespace seen
