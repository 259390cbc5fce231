// verify: compares the daemon's answers with its input topic, which serves as an oracle.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "tools/check/bucket_check.h"
#include "tools/check/verify_input.h"
#include "tools/check/verify_plan.h"
#include "tools/check/verify_report.h"
#include "tools/commands.h"
#include "tools/common_options.h"

namespace seen {
namespace {

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
