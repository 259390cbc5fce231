#include "tools/ask/daemon_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

// RFC 9457: "detail" or "title" describes the error.
Error AnswerProblem(std::string_view target, const HttpAnswer& answer) {
  std::string words;
  const SortedJson problem = SortedJson::parse(answer.body, nullptr, false);
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

/// Other statuses than those of a success become an error.
Result<HttpAnswer> Checked(std::string_view target, Result<HttpAnswer> answer) {
  if (answer && answer->status != 200 && answer->status != 202) return Fail(AnswerProblem(target, *answer));
  return answer;
}

Result<SortedJson> ParseBody(std::string_view target, const Result<HttpAnswer>& answer) {
  if (!answer) return Fail(answer.error());
  SortedJson json = SortedJson::parse(answer->body, nullptr, false);
  if (!json.is_object())
    return Fail(Code::kMalformed, fmt::format("{}: the answer is not a JSON object", target));
  return json;
}

std::string UserPath(std::string_view filter, std::string_view user_id) {
  return "/v1/filters/" + PercentEncode(filter) + "/users/" + PercentEncode(user_id);
}

/// -1: missing or null, as while the partition isn't open.
int64_t OffsetIn(const SortedJson& partition, const char* name) {
  const auto found = partition.find(name);
  return found == partition.end() || found->is_null() ? -1 : found->get<int64_t>();
}

DaemonSummary Summarise(const SortedJson& json) {
  DaemonSummary summary;
  summary.topic = json.value("topic", "");
  summary.is_replica = json.value("role", "") == "replica";
  summary.group_that_owns = json.value("owner_group", "");
  summary.ready = json.value("ready", false);
  summary.not_ready_reason = json.value("not_ready_reason", "");
  summary.partitions_total = json.value("partitions_total", 0);
  summary.next_offsets.assign(static_cast<size_t>(std::max(summary.partitions_total, 0)), -1);
  summary.watermarks_known = true;
  for (const SortedJson& partition : json.value("partitions", SortedJson::array())) {
    if (!partition.value("assigned", true)) continue;  // its owner has read on
    const auto number = partition.value("partition", size_t{0});
    if (number < summary.next_offsets.size())
      summary.next_offsets[number] = OffsetIn(partition, "next_offset");
    const SortedJson lag = partition.value("lag_messages", SortedJson(nullptr));
    if (lag.is_null()) {
      summary.watermarks_known = false;
    } else {
      summary.lag_messages += lag.get<uint64_t>();
    }
    const SortedJson republish = partition.value("republish", SortedJson::object());
    const DaemonSummary::Publishing publishing{
        .sweeping = republish.value("sweeping", false) || republish.value("all_requested", false),
        .marks_outstanding = partition.value("marks_outstanding", uint64_t{0}),
        .next_offset = OffsetIn(partition, "next_offset"),
        .published_to = OffsetIn(partition, "published_to"),
        .lag_messages = lag.is_null() ? 0 : lag.get<uint64_t>()};
    summary.marks_outstanding += publishing.marks_outstanding;
    summary.publishing[partition.value("partition", -1)] = publishing;
    summary.users_swept += republish.value("users_made_due", uint64_t{0});
    if (!partition.contains("high_watermark") || partition["high_watermark"].is_null())
      summary.watermarks_known = false;
  }
  if (json.contains("rekeying") && json["rekeying"].is_object()) {
    const SortedJson& rekeying = json["rekeying"];
    summary.source_topic = rekeying.value("source_topic", "");
    for (const SortedJson& partition : rekeying.value("partitions", SortedJson::array())) {
      const SortedJson& committed = partition.at("committed_offset");
      summary.rekeyed_offsets[partition.value("partition", -1)] =
          committed.is_null() ? -1 : committed.get<int64_t>();
    }
  }
  return summary;
}

/// Adds how far the other daemons of the group are with their partitions. kUnavailable: the daemon doesn't
/// know it.
Status AddOthers(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends, DaemonSummary& summary) {
  const auto is_unknown = [&](int32_t partition) {
    const auto number = static_cast<size_t>(partition);
    return number < summary.next_offsets.size() && summary.next_offsets[number] < 0;
  };
  const auto missing = [&] {
    return std::find_if(ends.begin(), ends.end(), [&](const auto& end) { return is_unknown(end.first); });
  };
  if (missing() == ends.end()) return {};
  const auto routes = daemon.AskJson("GET", "/v1/routes");
  if (!routes) return Fail(routes.error());
  try {
    for (const SortedJson& route : routes->at("routes")) {
      const auto partition = route.at("partition").get<int32_t>();
      if (!is_unknown(partition) || route.at("role") != "owner" || route.at("state") != "ready") continue;
      summary.next_offsets[static_cast<size_t>(partition)] = route.at("next_offset").get<int64_t>();
      summary.marks_outstanding += route.at("unpublished_users").get<uint64_t>();
    }
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, fmt::format("/v1/routes: {}", error.what()));
  }
  if (missing() == ends.end()) return {};
  return Fail(Code::kUnavailable,
              fmt::format("partition {} has no owner in /v1/routes that is ready", missing()->first));
}

/// What the daemon still lacks. Empty: nothing.
std::string WhatIsMissing(const DaemonSummary& status, const std::map<int32_t, int64_t>& ends,
                          bool published) {
  if (!status.ready) return fmt::format("the daemon is not ready: {}", status.not_ready_reason);
  if (!status.watermarks_known) return "the daemon doesn't know yet how long its topic is";
  bool published_to_ends = true;
  for (const auto& [partition, end] : ends) {
    const auto number = static_cast<size_t>(partition);
    const auto own = status.publishing.find(partition);
    const bool is_own = own != status.publishing.end();
    published_to_ends = published_to_ends && is_own && own->second.published_to >= end;
    // The last offset may be a transaction's end marker, which is no record to read: then the lag is 0. A lag
    // of 0 alone may refer to an older end than `ends`.
    const int64_t marker = is_own && own->second.lag_messages > 0 ? 0 : 1;
    if (number < status.next_offsets.size() && status.next_offsets[number] + marker < end)
      return fmt::format("partition {} is at offset {} of {}", partition, status.next_offsets[number], end);
  }
  if (published && !published_to_ends && status.marks_outstanding > 0)
    return fmt::format("{} snapshots are unacknowledged", WithThousands(status.marks_outstanding));
  return {};
}

std::string WhatIsToBeRekeyed(const DaemonSummary& status, const std::map<int32_t, int64_t>& ends) {
  for (const auto& [partition, end] : ends) {
    const auto at = status.rekeyed_offsets.find(partition);
    const int64_t offset = at == status.rekeyed_offsets.end() ? -1 : at->second;
    if (end > 0 && offset < end)
      return fmt::format("partition {} is re-keyed up to offset {} of {}", partition, offset, end);
  }
  return {};
}

/// `missing_of`: returns what the daemon still lacks, from its status. Empty: nothing.
template <typename Missing>
Status WaitFor(DaemonClient& daemon, Missing missing_of, std::chrono::duration<double> timeout, bool quiet) {
  Progress progress("wait", 0, "looks", quiet);
  const Instant start = SystemClock().Now();
  for (uint64_t looks = 1;; ++looks) {
    auto status = daemon.Status();
    const std::string missing = status ? missing_of(*status) : status.error().message;
    if (missing.empty()) return {};
    progress.Update(looks, missing);
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted while waiting: " + missing);
    if (SystemClock().Now() - start > timeout) {
      return Fail(Code::kUnavailable, fmt::format("after {:.0f} s: {}", timeout.count(), missing));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
}

}  // namespace

Result<DaemonClient> DaemonClient::Make(const DaemonAddress& address) {
  auto http = DaemonHttp::Make(address);
  if (!http) return Fail(http.error());
  return DaemonClient(std::move(*http));
}

Result<HttpAnswer> DaemonClient::Ask(std::string_view method, std::string_view target) {
  return Checked(target, http_.Ask(method, target));
}

Result<HttpAnswer> DaemonClient::Ask(std::string_view method, std::string_view target,
                                     const SortedJson& question) {
  // Replaced bytes would make another id.
  const SortedJson values = question.flatten();
  for (const auto& [at, value] : values.items()) {
    if (value.is_string() && !IsUtf8(value.get_ref<const std::string&>())) {
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: not UTF-8, as ids and texts of events must be", at.substr(1)));
    }
  }
  return Checked(target, http_.Ask(method, target, JsonText(question)));
}

Result<SortedJson> DaemonClient::AskJson(std::string_view method, std::string_view target) {
  return ParseBody(target, Ask(method, target));
}

Result<std::string> DaemonClient::Snapshot(std::string_view filter, std::string_view user_id,
                                           std::string_view format) {
  std::string target = UserPath(filter, user_id);
  if (!format.empty()) target += fmt::format("?format={}", format);
  auto answer = Ask("GET", target);
  if (!answer) return Fail(answer.error());
  return std::move(answer->body);
}

Result<SortedJson> DaemonClient::UnseenAnswer(std::string_view filter, std::string_view user_id,
                                              std::span<const std::string> items) {
  const std::string target = UserPath(filter, user_id) + "/unseen";
  return ParseBody(target, Ask("POST", target, {{"items", items}}));
}

Result<DaemonSummary> DaemonClient::Status() {
  const auto json = WholeStatus();
  if (!json) return Fail(json.error());
  try {
    return Summarise(*json);
  } catch (const nlohmann::json::exception& error) {
    return Fail(Code::kMalformed, fmt::format("/v1/status: {}", error.what()));
  }
}

Result<SortedJson> DaemonClient::WholeStatus() { return AskJson("GET", "/v1/status"); }

Result<std::optional<SortedJson>> DaemonClient::Digest(int32_t partition, TimeMs as_of,
                                                       std::string_view copy) {
  std::string target = fmt::format("/v1/digest?partition={}&as_of_ms={}", partition, as_of.value);
  if (!copy.empty()) target += "&copy=" + PercentEncode(copy);
  const auto answer = Ask("GET", target);
  if (answer && answer->status == 202) return std::optional<SortedJson>();
  auto json = ParseBody(target, answer);
  if (!json) return Fail(json.error());
  return std::optional(std::move(*json));
}

Result<SortedJson> DaemonClient::MakeCopy() { return AskJson("POST", "/v1/copies"); }

seen::Status DaemonClient::ReleaseCopy(std::string_view copy) {
  const auto released = Ask("DELETE", "/v1/copies/" + PercentEncode(copy));
  return released ? seen::Status() : Fail(released.error());
}

Status WaitUntilCaughtUp(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends, bool published,
                         std::chrono::duration<double> timeout, bool quiet) {
  const auto missing_of = [&](DaemonSummary& status) {
    const seen::Status others = status.ready ? AddOthers(daemon, ends, status) : seen::Status();
    return others ? WhatIsMissing(status, ends, published) : others.error().message;
  };
  return WaitFor(daemon, missing_of, timeout, quiet);
}

Status WaitUntilRekeyed(DaemonClient& daemon, const std::map<int32_t, int64_t>& ends,
                        std::chrono::duration<double> timeout, bool quiet) {
  return WaitFor(
      daemon, [&](const DaemonSummary& status) { return WhatIsToBeRekeyed(status, ends); }, timeout, quiet);
}

}  // namespace seen
