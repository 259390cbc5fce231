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
#include "tools/check/event_judge.h"
#include "tools/check/user_check.h"
#include "tools/check/verify_input.h"
#include "tools/check/verify_plan.h"
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
  uint64_t buckets = 0;
  uint64_t spilled_bytes = 0;
  std::vector<VerifiedFilter> filters;

  /// The sum over all filters.
  CheckOutcome Sum() const;
};

nlohmann::ordered_json DroppedJson(const VerifiedFilter& filter) {
  const CheckCounts& counts = filter.outcome.counts;
  return {{"too_old", filter.too_old},
          {"left_window", counts.left_window},
          {"taken_back", counts.taken_back},
          {"too_few_exposures", counts.too_few_exposures}};
}

nlohmann::ordered_json FilterJson(const VerifiedFilter& filter) {
  const CheckCounts& counts = filter.outcome.counts;
  nlohmann::ordered_json json = {{"filter", filter.name},
                                 {"ok", counts.Failures() == 0},
                                 {"items", counts.items},
                                 {"false_negatives", counts.FalseNegatives()},
                                 {"extra_items", counts.unseen_false_positives},
                                 {"extra_items_unexplained", counts.unexplained + counts.strangers},
                                 {"snapshot_false_positive_rate", counts.SnapshotFalsePositiveRate()}};
  json["dropped"] = DroppedJson(filter);
  return json;
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
  const CheckCounts& counts = outcome.counts;
  nlohmann::ordered_json json = {
      {"ok", counts.Failures() == 0},
      {"records", report.counts.records},
      {"exposures", report.counts.exposures},
      {"too_old", report.counts.too_old},
      {"malformed", report.counts.malformed},
      {"skipped", report.counts.skipped},
      {"topic_from_the_start", report.from_the_start},
      {"users", report.users},
      {"items", counts.items},
      {"false_negatives", counts.FalseNegatives()},
      {"snapshot_false_negatives", counts.snapshot_false_negatives},
      {"unseen_false_negatives", counts.unseen_false_negatives},
      {"negatives", counts.negatives},
      {"snapshot_false_positives", counts.snapshot_false_positives},
      {"snapshot_false_positive_rate", counts.SnapshotFalsePositiveRate()},
      {"false_positive_rate_asked", std::round(counts.RateAsked() * 1e9) / 1e9},
      {"unseen_false_positives", counts.unseen_false_positives},
      {"unseen_false_positives_unexplained", counts.unexplained},
      {"extra_items", counts.unseen_false_positives},
      {"extra_items_unexplained", counts.unexplained + counts.strangers},
      {"count_mismatches", counts.count_mismatches},
      {"horizon_mismatches", counts.horizon_mismatches},
  };
  if (report.published) {
    json["published_false_negatives"] = counts.published_false_negatives;
    json["published_missing"] = counts.published_missing;
    json["published_differing"] = counts.published_differing;
  }
  json["filters"] = nlohmann::ordered_json::array();
  for (const VerifiedFilter& filter : report.filters) json["filters"].push_back(FilterJson(filter));
  json["buckets"] = report.buckets;
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
    text += fmt::format("kept      {} in scratch files, in {} buckets\n", WithByteUnit(report.spilled_bytes),
                        report.buckets);
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
  const Progress::Mode progress = options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto;
  UserBuckets buckets({.scratch = options.scratch, .memory_bytes = options.memory_mib << 20});
  UserSample sample(options.sample, options.seed);
  EventJudge judge(plan.rules);
  VerifyInput input{.buckets = buckets, .sample = sample, .judge = judge, .progress = progress};
  const auto read = ReadVerifyInput(options, plan, *daemon, input);
  if (!read) return Fail(read.error());
  const auto checker = BucketChecker::Make({.plan = plan,
                                            .sample = sample,
                                            .http = options.daemon.http,
                                            .connections = options.connections,
                                            .negatives_per_user = options.negatives,
                                            .published = options.snapshots,
                                            .published_at = read->snapshots_at,
                                            .history_complete = read->from_the_start,
                                            .progress = progress});
  if (!checker) return Fail(checker.error());
  const Status checked =
      buckets.ForEach([&](std::string_view records) { return (*checker)->Check(records); });
  if (!checked) return Fail(checked.error());
  VerifyReport report{.counts = judge.counts(),
                      .from_the_start = read->from_the_start,
                      .published = options.snapshots,
                      .users = (*checker)->users(),
                      .buckets = buckets.buckets(),
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
