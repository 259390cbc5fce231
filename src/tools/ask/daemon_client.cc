#include "tools/ask/daemon_client.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace seen {
namespace {

using Json = nlohmann::json;

// RFC 9457: "detail" or "title" describes the error.
Error ProblemOf(std::string_view target, const HttpAnswer& answer) {
  std::string words;
  const Json problem = Json::parse(answer.body, nullptr, false);
  if (problem.is_object()) {
    for (const char* field : {"detail", "title"}) {
      if (words.empty() && problem.contains(field) && problem[field].is_string()) words = problem[field];
    }
  }
  const Code code = answer.status == 404                          ? Code::kNotFound
                    : answer.status >= 400 && answer.status < 500 ? Code::kInvalidArgument
                                                                  : Code::kUnavailable;
  return {code, fmt::format("{}: {}{}{}", target, answer.status, words.empty() ? "" : ": ", words)};
}

Result<HttpAnswer> Expect(unsigned status, std::string_view target, Result<HttpAnswer> answer) {
  if (answer && answer->status != status) return Fail(ProblemOf(target, *answer));
  return answer;
}

Result<HttpAnswer> Expect200(std::string_view target, Result<HttpAnswer> answer) {
  return Expect(200, target, std::move(answer));
}

Result<Json> ParseBody(std::string_view target, const Result<HttpAnswer>& answer) {
  if (!answer) return Fail(answer.error());
  Json json = Json::parse(answer->body, nullptr, false);
  if (!json.is_object())
    return Fail(Code::kMalformed, fmt::format("{}: the answer is not a JSON object", target));
  return json;
}

std::string UserPath(std::string_view filter, std::string_view user_id) {
  return "/v1/filters/" + PercentEncode(filter) + "/users/" + PercentEncode(user_id);
}

Result<DaemonClient::Place> PlaceOf(std::string_view target, Result<HttpAnswer> answer) {
  const auto json = ParseBody(target, Expect(202, target, std::move(answer)));
  if (!json) return Fail(json.error());
  const auto partition = json->find("partition");
  const auto offset = json->find("offset");
  if (partition == json->end() || offset == json->end() || !partition->is_number_integer() ||
      !offset->is_number_integer()) {
    return Fail(Code::kMalformed, std::string(target) + ": the answer names no partition and offset");
  }
  return DaemonClient::Place{partition->get<int32_t>(), offset->get<int64_t>()};
}

DaemonSummary Summarise(const Json& json) {
  DaemonSummary summary;
  summary.brokers = json.value("brokers", "");
  summary.topic = json.value("topic", "");
  summary.embedded_kafka = json.value("embedded_kafka", false);
  summary.is_replica = json.value("role", "") == "replica";
  summary.group_that_owns = json.value("owner_group", "");
  summary.ready = json.value("ready", false);
  summary.not_ready_reason = json.value("not_ready_reason", "");
  summary.partitions_total = json.value("partitions_total", 0);
  summary.next_offsets.assign(static_cast<size_t>(std::max(summary.partitions_total, 0)), -1);
  summary.watermarks_known = true;
  for (const Json& partition : json.value("partitions", Json::array())) {
    const auto number = partition.value("partition", size_t{0});
    if (number < summary.next_offsets.size())
      summary.next_offsets[number] = partition.value("next_offset", int64_t{-1});
    summary.partitions_ready += partition.value("state", "") == "ready" ? 1 : 0;
    const Json lag = partition.value("lag_messages", Json(nullptr));
    if (lag.is_null()) {
      summary.watermarks_known = false;
    } else {
      summary.lag_messages += lag.get<uint64_t>();
    }
    summary.marks_outstanding += partition.value("marks_outstanding", uint64_t{0});
    summary.misrouted += partition.value("misrouted", uint64_t{0});
    const Json republish = partition.value("republish", Json::object());
    const bool sweeping = republish.value("sweeping", false) || republish.value("all_requested", false);
    summary.partitions_sweeping += sweeping ? 1 : 0;
    summary.users_swept += republish.value("users_made_due", uint64_t{0});
    if (!partition.contains("high_watermark") || partition["high_watermark"].is_null())
      summary.watermarks_known = false;
  }
  if (json.contains("rekeying") && json["rekeying"].is_object()) {
    const Json& rekeying = json["rekeying"];
    summary.source_topic = rekeying.value("source_topic", "");
    for (const Json& partition : rekeying.value("partitions", Json::array())) {
      const Json& committed = partition.at("committed_offset");
      summary.rekeyed_offsets[partition.value("partition", -1)] =
          committed.is_null() ? -1 : committed.get<int64_t>();
    }
  }
  return summary;
}

}  // namespace

Result<DaemonClient> DaemonClient::Make(const DaemonAddress& address) {
  auto http = HttpClient::Make(address);
  if (!http) return Fail(http.error());
  return DaemonClient(std::move(*http));
}

Result<std::string> DaemonClient::Snapshot(std::string_view filter, std::string_view user_id,
                                           std::string_view format) {
  std::string target = UserPath(filter, user_id);
  if (!format.empty()) target += fmt::format("?format={}", format);
  auto answer = Expect200(target, http_.Get(target));
  if (!answer) return Fail(answer.error());
  return std::move(answer->body);
}

Result<Json> DaemonClient::UnseenAnswer(std::string_view filter, std::string_view user_id,
                                        std::span<const std::string> items,
                                        std::span<const std::string> also_seen,
                                        std::optional<TimeMs> created_at, bool one_per_group) {
  Json question = {{"items", items}};
  if (created_at) {
    for (Json& item : question["items"]) item = {{"id", item}, {"created_at", created_at->value}};
  }
  if (!also_seen.empty()) question["also_seen"] = also_seen;
  if (one_per_group) question["one_per_group"] = true;
  return UnseenOf(filter, user_id, question);
}

Result<Json> DaemonClient::UnseenOf(std::string_view filter, std::string_view user_id, const Json& question) {
  const std::string target = UserPath(filter, user_id) + "/unseen";
  std::string body = question.dump(-1, ' ', false, Json::error_handler_t::replace);
  return ParseBody(target, Expect200(target, http_.PostJson(target, std::move(body))));
}

Result<std::vector<std::string>> DaemonClient::Unseen(std::string_view filter, std::string_view user_id,
                                                      std::span<const std::string> items,
                                                      std::span<const std::string> also_seen,
                                                      std::optional<TimeMs> created_at) {
  const auto answer = UnseenAnswer(filter, user_id, items, also_seen, created_at);
  if (!answer) return Fail(answer.error());
  std::vector<std::string> unseen;
  for (const Json& item : answer->value("unseen", Json::array())) {
    if (!item.is_string()) {
      return Fail(Code::kMalformed, UserPath(filter, user_id) + "/unseen: an entry is not a string");
    }
    unseen.push_back(item);
  }
  return unseen;
}

Result<Json> DaemonClient::Segments(std::string_view filter, std::string_view user_id) {
  const std::string target = UserPath(filter, user_id) + "/segments";
  return ParseBody(target, Expect200(target, http_.Get(target)));
}

Result<Json> DaemonClient::Why(std::string_view filter, std::string_view user_id, std::string_view item) {
  const std::string target = UserPath(filter, user_id) + "/why?item=" + PercentEncode(item);
  return ParseBody(target, Expect200(target, http_.Get(target)));
}

Result<Json> DaemonClient::Group(std::string_view item, std::string_view after) {
  std::string target = "/v1/groups/" + PercentEncode(item);
  if (!after.empty()) target += "?after=" + PercentEncode(after);
  return ParseBody(target, Expect200(target, http_.Get(target)));
}

Result<Json> DaemonClient::Similar(const Json& question) {
  constexpr std::string_view kTarget = "/v1/similar";
  std::string body = question.dump(-1, ' ', false, Json::error_handler_t::replace);
  return ParseBody(kTarget, Expect200(kTarget, http_.PostJson(kTarget, std::move(body))));
}

Result<DaemonClient::Place> DaemonClient::Erase(std::string_view user_id) {
  const std::string target = "/v1/users/" + PercentEncode(user_id);
  return PlaceOf(target, http_.Ask("DELETE", target));
}

Result<DaemonClient::Place> DaemonClient::Remove(std::string_view user_id,
                                                 std::span<const std::string> items) {
  const std::string target = "/v1/users/" + PercentEncode(user_id) + "/removed";
  const Json body = {{"items", items}};
  return PlaceOf(target, http_.PostJson(target, body.dump(-1, ' ', false, Json::error_handler_t::replace)));
}

Result<DaemonClient::Place> DaemonClient::Promote() {
  constexpr std::string_view kTarget = "/v1/promote";
  return PlaceOf(std::string(kTarget), http_.PostJson(kTarget, ""));
}

Result<DaemonSummary> DaemonClient::Status() {
  const auto json = ParseBody("/v1/status", Expect200("/v1/status", http_.Get("/v1/status")));
  if (!json) return Fail(json.error());
  try {
    return Summarise(*json);
  } catch (const Json::exception& error) {
    return Fail(Code::kMalformed, fmt::format("/v1/status: {}", error.what()));
  }
}

Result<Json> DaemonClient::WholeStatus() {
  return ParseBody("/v1/status", Expect200("/v1/status", http_.Get("/v1/status")));
}

Result<std::optional<Json>> DaemonClient::Digest(int32_t partition, TimeMs as_of, std::string_view copy) {
  std::string target = fmt::format("/v1/digest?partition={}&as_of_ms={}", partition, as_of.value);
  if (!copy.empty()) target += "&copy=" + PercentEncode(copy);
  const auto answer = http_.Get(target);
  if (answer && answer->status == 202) return std::optional<Json>();
  auto json = ParseBody(target, Expect200(target, answer));
  if (!json) return Fail(json.error());
  return std::optional(std::move(*json));
}

Result<Json> DaemonClient::MakeCopy() {
  constexpr std::string_view kTarget = "/v1/copies";
  return ParseBody(kTarget, Expect200(kTarget, http_.PostJson(kTarget, "")));
}

seen::Status DaemonClient::ReleaseCopy(std::string_view copy) {
  const std::string target = "/v1/copies/" + PercentEncode(copy);
  const auto released = Expect200(target, http_.Ask("DELETE", target));
  return released ? seen::Status() : Fail(released.error());
}

Result<Json> DaemonClient::Routes() {
  constexpr std::string_view kTarget = "/v1/routes";
  return ParseBody(kTarget, Expect200(kTarget, http_.Get(kTarget)));
}

seen::Status DaemonClient::StartFill(std::string_view filter, std::string_view id) {
  const std::string target = "/v1/filters/" + PercentEncode(filter) + "/fill";
  const auto started = Expect(202, target, http_.PostJson(target, Json{{"id", id}}.dump()));
  return started ? seen::Status() : Fail(started.error());
}

seen::Status DaemonClient::StopFill(std::string_view filter) {
  const std::string target = "/v1/fills/" + PercentEncode(filter);
  const auto stopped = Expect200(target, http_.Ask("DELETE", target));
  return stopped ? seen::Status() : Fail(stopped.error());
}

Result<Json> DaemonClient::Fills() {
  constexpr std::string_view kTarget = "/v1/fills";
  return ParseBody(kTarget, Expect200(kTarget, http_.Get(kTarget)));
}

Result<int> DaemonClient::PublishAll() {
  constexpr std::string_view kTarget = "/v1/publish";
  auto answer = http_.PostJson(kTarget, "");
  if (answer && answer->status != 202) return Fail(ProblemOf(kTarget, *answer));
  const auto json = ParseBody(kTarget, answer);
  if (!json) return Fail(json.error());
  return json->value("partitions", 0);
}

Result<Json> DaemonClient::Reload() {
  constexpr std::string_view kTarget = "/v1/reload";
  return ParseBody(kTarget, Expect200(kTarget, http_.PostJson(kTarget, "")));
}

seen::Status DaemonClient::AcknowledgeLost() {
  constexpr std::string_view kTarget = "/v1/lost-ranges/acknowledge";
  const auto answer = Expect200(kTarget, http_.PostJson(kTarget, ""));
  return answer ? seen::Status() : Fail(answer.error());
}

Result<std::string> DaemonClient::MetricsPage() {
  auto answer = Expect200("/metrics", http_.Get("/metrics"));
  if (!answer) return Fail(answer.error());
  return std::move(answer->body);
}

}  // namespace seen
