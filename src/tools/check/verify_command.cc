// verify: compares the daemon's answers with its input topic, which serves as an oracle.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tools/check/bucket_check.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"

namespace seen {
namespace {

struct VerifiedFilter {
  std::string name;
  uint64_t too_old = 0;  // (user, item) pairs of the whole topic that were too old on arrival
  CheckOutcome outcome;
};

struct VerifyReport {
  OracleCounts counts;
  bool from_the_start = true;
  bool published = false;
  uint64_t users = 0;
  uint64_t spilled_bytes = 0;
  std::vector<VerifiedFilter> filters;

  /// The sum over all filters.
  CheckOutcome Sum() const;
};

using Json = nlohmann::ordered_json;

void AddFigures(const CheckCounts& counts, bool published, Json& json) {
  json["ok"] = counts.Failures() == 0;
  for (const auto& [name, figure] : kCheckFigures) {
    if (published || !std::string_view(name).starts_with("published_")) json[name] = counts.*figure;
  }
  json["false_negatives"] = counts.FalseNegatives();
  json["extra_items"] = counts.unseen_false_positives;
  json["extra_items_unexplained"] = counts.unexplained + counts.strangers;
  json["snapshot_false_positive_rate"] = counts.SnapshotFalsePositiveRate();
  json["false_positive_rate_asked"] = std::round(counts.RateAsked() * 1e9) / 1e9;
}

std::string DroppedText(const VerifiedFilter& filter) {
  const CheckCounts& counts = filter.outcome.counts;
  return fmt::format(
      "filter {}: {} items seen; dropped: {} too old on arrival, {} left the window since, {} taken back, {} "
      "shown too few times\n",
      filter.name, WithThousands(counts.items), WithThousands(filter.too_old),
      WithThousands(counts.left_window), WithThousands(counts.taken_back),
      WithThousands(counts.too_few_exposures));
}

CheckOutcome VerifyReport::Sum() const {
  CheckOutcome sum;
  for (const VerifiedFilter& filter : filters) sum.Add(filter.outcome);
  return sum;
}

std::string VerifyJson(const VerifyReport& report) {
  const CheckOutcome outcome = report.Sum();
  Json json = {{"records", report.counts.records}, {"exposures", report.counts.exposures},
               {"too_old", report.counts.too_old}, {"malformed", report.counts.malformed},
               {"skipped", report.counts.skipped}, {"topic_from_the_start", report.from_the_start}};
  AddFigures(outcome.counts, report.published, json);
  json["users"] = report.users;  // the figure counts a user once for each filter
  json["filters"] = Json::array();
  for (const VerifiedFilter& filter : report.filters) {
    Json& one = json["filters"].emplace_back(Json{{"filter", filter.name}});
    AddFigures(filter.outcome.counts, report.published, one);
    one["dropped"] = {{"too_old", filter.too_old}};
    for (const char* why : {"left_window", "taken_back", "too_few_exposures"}) one["dropped"][why] = one[why];
  }
  json["spilled_bytes"] = report.spilled_bytes;
  json["failures"] = outcome.failures;
  return json.dump(2) + "\n";
}

std::string VerifyText(const VerifyReport& report) {
  const CheckOutcome outcome = report.Sum();
  const CheckCounts& counts = outcome.counts;
  std::string text;
  for (const std::string& failure : outcome.failures) text += failure + "\n";
  text += fmt::format(
      "read      {} records: {} exposures that count, {} too old, {} malformed, {} skipped{}\n",
      WithThousands(report.counts.records), WithThousands(report.counts.exposures),
      WithThousands(report.counts.too_old), WithThousands(report.counts.malformed),
      WithThousands(report.counts.skipped), report.from_the_start ? "" : " (the topic's start is gone)");
  if (report.spilled_bytes > 0) {
    text += fmt::format("kept      {} in a scratch file\n", WithByteUnit(report.spilled_bytes));
  }
  text +=
      fmt::format("checked   {} users, {} items that must be seen, {} that must not\n",
                  WithThousands(report.users), WithThousands(counts.items), WithThousands(counts.negatives));
  for (const VerifiedFilter& filter : report.filters) text += DroppedText(filter);
  text += fmt::format(
      "false negatives   {} in snapshots, {} in unseen{}\n", counts.snapshot_false_negatives,
      counts.unseen_false_negatives,
      report.published ? fmt::format(", {} in published snapshots", counts.published_false_negatives) : "");
  text +=
      fmt::format("false positives   {:.3f} % in snapshots ({:.3f} % asked), {} in unseen ({} unexplained)\n",
                  counts.SnapshotFalsePositiveRate() * 100, counts.RateAsked() * 100,
                  counts.unseen_false_positives, counts.unexplained);
  text +=
      fmt::format("extra items       {} by a shared fingerprint, {} unexplained\n",
                  counts.unseen_false_positives - counts.unexplained, counts.unexplained + counts.strangers);
  text += fmt::format("mismatches        {} in item counts, {} in horizons{}\n", counts.count_mismatches,
                      counts.horizon_mismatches,
                      report.published ? fmt::format(", {} published snapshots differ, {} are missing",
                                                     counts.published_differing, counts.published_missing)
                                       : "");
  text += fmt::format("{}\n", counts.Failures() == 0 ? "all is well" : "FAILED");
  return text;
}

Result<VerifyReport> Verify(const VerifyOptions& options, const VerifyPlan& plan) {
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return Fail(daemon.error());
  UserBuckets buckets({.scratch = options.scratch, .memory_bytes = options.memory_mib << 20});
  UserSample sample(options.sample, options.seed);
  EventJudge judge(plan.rules);
  const auto read = ReadVerifyInput(options, plan, *daemon, {buckets, sample, judge});
  if (!read) return Fail(read.error());
  const auto checker = BucketChecker::Make(options, plan, sample, *read);
  if (!checker) return Fail(checker.error());
  const Status checked =
      buckets.ForEach([&](std::string_view records) { return (*checker)->Check(records); });
  if (!checked) return Fail(checked.error());
  VerifyReport report{.counts = judge.counts(),
                      .from_the_start = read->from_the_start,
                      .published = options.snapshots,
                      .users = (*checker)->users(),
                      .spilled_bytes = buckets.spilled_bytes(),
                      .filters = {}};
  for (size_t place = 0; place < plan.filters.size(); ++place) {
    const size_t filter = plan.filters[place];
    report.filters.push_back(
        {plan.rules.filters[filter].name, judge.too_old()[filter], (*checker)->outcomes()[place]});
  }
  return report;
}

int RunVerify(const VerifyOptions& options, const CLI::App& app) {
  const auto plan = PlanOf(options, app);
  if (!plan) return ExitWith(plan.error());
  CatchInterrupts();
  const auto report = Verify(options, *plan);
  if (!report) return ExitWith(report.error());
  fmt::print("{}", options.json ? VerifyJson(*report) : VerifyText(*report));
  return report->Sum().counts.Failures() == 0 ? kExitOk : kExitFailed;
}

}  // namespace

Subcommand AddVerify(CLI::App& root) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* app =
      root.add_subcommand("verify", "check the daemon against its input topic: false negatives, rates");
  AddVerifyOptions(*app, *options);
  return {app, [options, app] { return RunVerify(*options, *app); }};
}

}  // namespace seen
