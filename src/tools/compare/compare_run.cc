#include "tools/compare/compare_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <unordered_set>

#include "model/hashes.h"
#include "tools/common_options.h"
#include "tools/compare/reason_finder.h"
#include "tools/replay/distinct_count.h"

namespace seen {
namespace {

using Json = nlohmann::json;

constexpr size_t kWaveRequests = 32;        // per connection
constexpr size_t kWaveCandidates = 50'000;  // per connection: bounds memory if requests are large
constexpr uint64_t kFailuresInARowMax = 100;

// For each of the request's items: whether POST .../unseen drops it.
Result<std::vector<bool>> NewDrops(DaemonClient& daemon, const CompareRequest& request) {
  Json question = {{"items", request.items}};
  for (size_t i = 0; i < request.created_ms.size(); ++i) {
    if (request.created_ms[i] != 0)
      question["items"][i] = {{"id", request.items[i]}, {"created_at", request.created_ms[i]}};
  }
  const auto answer = daemon.AskJson(
      "POST",
      "/v1/filters/" + PercentEncode(request.filter) + "/users/" + PercentEncode(request.user_id) + "/unseen",
      question);
  if (!answer) return Fail(answer.error());
  std::vector<bool> drops(request.items.size(), true);
  try {
    std::unordered_set<std::string> unseen;
    for (const Json& item : answer->at("unseen")) unseen.insert(item.get<std::string>());
    for (size_t i = 0; i < request.items.size(); ++i) drops[i] = !unseen.contains(request.items[i]);
  } catch (const Json::exception& error) {
    return Fail(Code::kMalformed, fmt::format("the daemon's answer can't be read: {}", error.what()));
  }
  return drops;
}

void AddFailure(NotCompared& not_compared, const std::string& place, const std::string& words) {
  if (not_compared.examples.size() < kFailureExamplesMax)
    not_compared.examples.push_back(fmt::format("{}: {}", place, words));
}

// If a filter drops nothing in a whole file, the cause is more often a wrong name than a fact.
void AddWarnings(const RequestFile& requests, CompareReport& report) {
  const AgreementCounts& total = report.total;
  if (total.candidates() > 0 && total.both + total.only_old == 0)
    report.warnings.emplace_back(
        "the old filter dropped nothing at all: check that you write keys, users and items as the old filter "
        "does");
  if (total.candidates() > 0 && total.both + total.only_new == 0)
    report.warnings.emplace_back(
        "this filter dropped nothing at all: check that it has the history, and knows these users");
  if (report.unknown_items > 0)
    report.warnings.push_back(
        fmt::format("the old filter named {} items that aren't candidates of their request: write ids in the "
                    "same way on both sides",
                    WithThousands(report.unknown_items)));
  for (const auto& [name, lines] : requests.unused_members())
    report.warnings.push_back(
        fmt::format("compare doesn't use the member \"{}\" of {} lines", name, WithThousands(lines)));
}

}  // namespace

/// One request: both answers, or the reason why one is missing.
struct CompareRun::Outcome {
  std::optional<OldAnswer> old_answer;
  std::optional<std::vector<bool>> new_drops;
  std::string failure;
};

Result<CompareRun> CompareRun::Make(ComparePlan plan) {
  CompareRun run(std::move(plan));
  for (int i = 0; i < run.plan_.connections; ++i) {
    auto daemon = DaemonClient::Make(run.plan_.http);
    if (!daemon) return Fail(daemon.error());
    run.daemons_.push_back(std::move(*daemon));
  }
  if (const auto status = run.daemons_.front().Status(); !status) return Fail(status.error());
  const int old_connections = run.plan_.old_filter_in_order ? 1 : run.plan_.connections;
  for (int i = 0; i < old_connections; ++i) {
    auto old_filter = run.plan_.make_old_filter();
    if (!old_filter) return Fail(old_filter.error());
    run.old_filters_.push_back(std::move(*old_filter));
  }
  return run;
}

Result<bool> CompareRun::ReadWave(RequestFile& requests, std::vector<CompareRequest>& wave,
                                  CompareReport& report) const {
  const auto connections = static_cast<size_t>(plan_.connections);
  size_t candidates = 0;
  wave.clear();
  RequestLine line;
  while (wave.size() < connections * kWaveRequests && candidates < connections * kWaveCandidates) {
    const auto more = requests.Next(line);
    if (!more) return Fail(more.error());
    if (!*more) return false;
    if (!line.problem.empty()) {
      ++report.not_compared.bad_lines;
      AddFailure(report.not_compared, line.request.place, line.problem);
      continue;
    }
    if (line.request.filter.empty()) line.request.filter = plan_.default_filter;
    candidates += line.request.items.size();
    wave.push_back(std::move(line.request));
  }
  return true;
}

void CompareRun::CompareSome(std::span<const CompareRequest> requests, std::span<Outcome> outcomes,
                             OldFilter* old_filter, DaemonClient& daemon, Status& status) {
  if (old_filter != nullptr) {
    auto answers = old_filter->Ask(requests);
    if (!answers) {
      status = Fail(answers.error());
      return;
    }
    for (size_t i = 0; i < requests.size(); ++i) {
      Result<OldAnswer>& answer = (*answers)[i];
      if (answer) {
        outcomes[i].old_answer = std::move(*answer);
      } else {
        outcomes[i].failure = answer.error().message;
      }
    }
  }
  for (size_t i = 0; i < requests.size(); ++i) {
    if (!outcomes[i].old_answer) continue;
    auto drops = NewDrops(daemon, requests[i]);
    if (drops) {
      outcomes[i].new_drops = std::move(*drops);
    } else {
      outcomes[i].failure = drops.error().message;
    }
  }
}

Status CompareRun::CompareWave(std::vector<CompareRequest>& wave, std::vector<Outcome>& outcomes) {
  outcomes.clear();
  outcomes.resize(wave.size());
  Status stopped;
  if (plan_.old_filter_in_order) {
    // One answer at a time: if the file ends early, the requests before its end are still compared.
    for (size_t i = 0; i < wave.size(); ++i) {
      auto answers = old_filters_.front()->Ask(std::span(wave).subspan(i, 1));
      if (!answers) {
        wave.resize(i);
        outcomes.resize(i);
        stopped = Fail(answers.error());
        break;
      }
      if (Result<OldAnswer>& answer = answers->front(); answer) {
        outcomes[i].old_answer = std::move(*answer);
      } else {
        outcomes[i].failure = answer.error().message;
      }
    }
  }
  const size_t connections = daemons_.size();
  const size_t share = (wave.size() + connections - 1) / connections;
  std::vector<Status> statuses(connections);
  {
    std::vector<std::jthread> threads;
    for (size_t i = 0; i < connections; ++i) {
      const size_t from = std::min(i * share, wave.size());
      const size_t count = std::min(share, wave.size() - from);
      if (count == 0) break;
      OldFilter* old_filter = plan_.old_filter_in_order ? nullptr : old_filters_[i].get();
      threads.emplace_back([&wave, &outcomes, &statuses, this, i, from, count, old_filter] {
        CompareSome(std::span<const CompareRequest>(wave).subspan(from, count),
                    std::span(outcomes).subspan(from, count), old_filter, daemons_[i], statuses[i]);
      });
    }
  }
  for (const Status& status : statuses) {
    if (!status) return status;
  }
  return stopped;
}

CompareReport CompareRun::Run(RequestFile& requests, Progress& progress) {
  CompareReport report;
  report.at = SystemClock().WallNow();
  Comparison comparison(plan_.why_max, plan_.seed);
  DistinctCount users;
  std::vector<CompareRequest> wave;
  std::vector<Outcome> outcomes;
  uint64_t failures_in_a_row = 0;
  bool more = true;
  while (more && report.stopped.empty()) {
    const auto read = ReadWave(requests, wave, report);
    if (!read) report.stopped = read.error().message;
    more = read && *read;
    if (const Status compared = CompareWave(wave, outcomes); !compared) {
      report.stopped = compared.error().message;
    }
    for (size_t i = 0; i < wave.size(); ++i) {
      Outcome& outcome = outcomes[i];
      if (outcome.old_answer && outcome.new_drops) {
        comparison.Add(wave[i], *outcome.old_answer, *outcome.new_drops);
        users.Add(UserKeyOf(wave[i].user_id).high);
        failures_in_a_row = 0;
        continue;
      }
      if (outcome.failure.empty()) continue;  // the run stopped before this request
      ++(outcome.old_answer ? report.not_compared.daemon : report.not_compared.old_filter);
      AddFailure(report.not_compared, wave[i].place, outcome.failure);
      if (++failures_in_a_row == kFailuresInARowMax && report.stopped.empty())
        report.stopped = fmt::format("{} requests in a row had no answer", kFailuresInARowMax);
    }
    progress.Update(comparison.requests(), fmt::format("{} differ", comparison.requests_that_differ()));
    if (Interrupted() && report.stopped.empty()) report.stopped = "interrupted";
  }
  report.requests = comparison.requests();
  report.requests_that_differ = comparison.requests_that_differ();
  report.users = users.count();
  report.total = comparison.Total();
  report.by_filter = comparison.by_filter();
  report.old_shares = comparison.old_shares();
  report.new_shares = comparison.new_shares();
  report.repeated = comparison.repeated();
  report.also_seen = comparison.also_seen();
  report.unknown_items = comparison.unknown_items();
  AddWarnings(requests, report);
  report.only_old = FindReasons(comparison.only_old(), daemons_, plan_.examples_max);
  report.only_new = FindReasons(comparison.only_new(), daemons_, plan_.examples_max);
  for (const SideReport* side : {&report.only_old, &report.only_new}) {
    for (const ReasonCount& count : side->reasons) {
      if (count.reason.key == NoReason().key) report.why_unanswered += count.items;
    }
  }
  if (Interrupted() && report.stopped.empty()) report.stopped = "interrupted while asking for reasons";
  return report;
}

}  // namespace seen
