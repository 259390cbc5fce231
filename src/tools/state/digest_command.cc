// digest: computes a state's digests. The state is a daemon's, that of a stopped daemon's directory, a
// backup's, or the one that a daemon would have after a history.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/read_files.h"
#include "tools/replay/history_options.h"
#include "tools/state/daemon_state.h"
#include "tools/state/from_history.h"
#include "tools/state/state_report.h"
#include "tools/state/state_source.h"

namespace seen {
namespace {

struct DigestOptions {
  DaemonAddress http;
  StateSourceOptions state;
  HistoryOptions history;
  std::string config;
  std::string brokers;     // empty: those of the configuration
  int32_t partitions = 0;  // 0: as many as the input topic
  std::string rejects_max = "1%";
  std::string scratch;
  uint64_t memory_mib = 1024;
  std::string as_of;
  std::string expect;
  bool wait = false;
  int64_t timeout_s = 600;
  bool json = false;
  bool quiet = false;
};

Result<std::optional<StateReport>> ReadExpected(const DigestOptions& options) {
  if (options.expect.empty()) return std::optional<StateReport>();
  const auto text = ReadWhole(options.expect);
  if (!text) return Fail(Code::kInvalidArgument, "--expect: " + text.error().message);
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object())
    return Fail(Code::kInvalidArgument, "--expect: " + options.expect + ": not the output of digest --json");
  auto expected = StateReportFromJson(json);
  if (!expected) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--expect: {}: {}", options.expect, expected.error().message));
  }
  return std::optional(std::move(*expected));
}

// Windows move, so digests of different times can't be compared.
Result<TimeMs> AsOfOf(const DigestOptions& options, const std::optional<StateReport>& expected) {
  const TimeMs now = SystemClock().WallNow();
  if (options.as_of.empty()) return expected ? expected->as_of : now;
  auto as_of = ParseTime("--as-of", options.as_of, now);
  if (as_of && expected && *as_of != expected->as_of) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--as-of: {} is {} ms, and {} is as of {} ms. Remedy: leave --as-of out",
                            options.as_of, as_of->value, options.expect, expected->as_of.value));
  }
  return as_of;
}

Result<StateReport> ComputeOfHistory(const DigestOptions& options, TimeMs as_of) {
  std::vector<std::string> overrides;
  if (!options.brokers.empty()) overrides.push_back("kafka.brokers=" + options.brokers);
  auto config = ReadConfig(options.config, overrides);
  if (!config) return Fail(config.error());
  ReplayTarget target{.config = std::move(*config), .brokers = {}, .client = {}, .topic = {}};
  target.brokers = target.config.kafka.brokers;
  // Another cluster has its own credentials.
  if (options.brokers.empty()) target.client = target.config.kafka.client;
  target.topic = target.config.input.topic;
  target.partitioner = target.config.input.partitioner;
  const auto share = ParseShare("--rejects-max", options.rejects_max);
  if (!share) return Fail(share.error());
  const auto times = HistoryTimesOf(options.history);
  if (!times) return Fail(times.error());
  // The history may be the input topic itself: nothing is written into it.
  auto source = OpenHistory(options.history, target, /*replayed_into=*/"", *times, Manifest{});
  if (!source) return Fail(source.error());
  Rejects rejects(*share);
  StateReport report;
  report.source = "history";
  report.as_of = as_of;
  const auto digest = IntoDigest(options.scratch, report);
  const auto built =
      IntoState({.memory_bytes = options.memory_mib << 20,
                 .threads = std::max(1U, std::thread::hardware_concurrency()),
                 .partitions = options.partitions > 0 ? std::optional(options.partitions) : std::nullopt,
                 .live_from = "",
                 .whole = true,
                 .since = TimesOfExposures(options.history, *times).since,
                 .until = TimesOfExposures(options.history, *times).until,
                 .quiet = options.quiet},
                target, *digest, **source, rejects);
  if (!built) return Fail(built.error());
  if (rejects.total() > 0)
    fmt::print(stderr, "seenctl: warning: {} lines are no events, and aren't in the digest\n",
               rejects.total());
  Manifest read;
  (*source)->Describe(read);
  if (ReportFiles(read, options.quiet)) return Fail(Code::kMalformed, "--history: damaged files: no digest");
  return report;
}

Result<StateReport> Compute(const DigestOptions& options, TimeMs as_of) {
  if (!options.history.empty()) return ComputeOfHistory(options, as_of);
  if (!options.state.directory.empty() || !options.state.backups.empty()) {
    const auto source = StateSource::Open(options.state);
    if (!source) return Fail(source.error());
    return DigestSource(*source, as_of, options.quiet);
  }
  auto daemon = DaemonClient::Make(options.http);
  if (!daemon) return Fail(daemon.error());
  const std::chrono::seconds timeout(options.timeout_s);
  if (options.wait) {
    if (Status waited = WaitForCheckpoints(*daemon, timeout); !waited) return Fail(waited.error());
  }
  return DigestDaemon(*daemon, as_of, nullptr, timeout, options.quiet);
}

// Compactions drop rows by the state's own time. So a digest of an earlier time lacks those rows.
void WarnOfThePast(const StateReport& report) {
  for (const PartitionDigest& partition : report.partitions) {
    if (DayOf(partition.partition_time) <= DayOf(report.as_of)) continue;
    fmt::print(stderr,
               "seenctl: warning: partition {} has records of {}, a day or more after --as-of. Its digest "
               "may lack what compactions have dropped since\n",
               partition.partition, TimeText(partition.partition_time));
  }
}

Status CheckSources(const DigestOptions& options) {
  if (!options.state.directory.empty() && !options.state.backups.empty())
    return Fail(Code::kInvalidArgument, "--from: --dir is given as well; leave one of them out");
  if (options.state.backup && options.state.backups.empty())
    return Fail(Code::kInvalidArgument, "--backup: give --from, the directory of backups");
  if (options.history.empty()) return {};
  if (!options.state.directory.empty() || !options.state.backups.empty() || options.wait) {
    return Fail(Code::kInvalidArgument,
                "--history, --from-topic: --dir, --from or --wait is given as well; leave one of them out");
  }
  if (options.config.empty()) {
    return Fail(Code::kInvalidArgument,
                "--history, --from-topic: the state depends on the filters: give the daemon's configuration "
                "by --config");
  }
  return CheckHistoryOptions(options.history, "digest: give --history FILES");
}

int RunDigest(const DigestOptions& options) {
  if (Status one = CheckSources(options); !one) return ExitWith(one.error());
  const auto expected = ReadExpected(options);
  if (!expected) return ExitWith(expected.error());
  const auto as_of = AsOfOf(options, *expected);
  if (!as_of) return ExitWith(as_of.error());
  CatchInterrupts();
  const auto report = Compute(options, *as_of);
  if (!report) {
    const int status = ExitWith(report.error());
    return report.error().code == Code::kMalformed && !options.history.empty() ? kExitRejects : status;
  }
  WarnOfThePast(*report);
  fmt::print("{}", options.json ? StateReportToJson(*report).dump(2) + "\n" : StateReportText(*report));
  if (!*expected) return kExitOk;
  const std::vector<std::string> differences = CompareReports(**expected, *report);
  for (const std::string& difference : differences) fmt::print(stderr, "seenctl: {}\n", difference);
  if (differences.empty()) fmt::print(stderr, "equal to {}\n", options.expect);
  return differences.empty() ? kExitOk : kExitFailed;
}

}  // namespace

Subcommand AddDigest(CLI::App& root) {
  auto options = std::make_shared<DigestOptions>();
  CLI::App* app = root.add_subcommand("digest", "print digests of a state: equal sets have equal digests");
  AddDaemonOptions(*app, options->http);
  AddStateSourceOptions(*app, options->state);
  app->add_option("--history", options->history.files,
                  "files of events, instead of a daemon: as replay takes them; needs --config");
  app->add_option("--config", options->config,
                  "with --history or --from-topic: the daemon's configuration, with its filters");
  AddHistoryOptions(*app, options->history);
  app->add_option("--brokers", options->brokers,
                  "of a history: brokers other than the configuration's: HOST:PORT,...");
  app->add_option(
         "--partitions", options->partitions,
         "of a history: the input topic's number of partitions; with this option, digest asks no broker")
      ->check(CLI::Range(1, 10'000));
  app->add_option("--rejects-max", options->rejects_max,
                  "of a history: stop when more than this share of the lines are no events")
      ->capture_default_str();
  app->add_option(
      "--scratch", options->scratch,
      "of a history: a directory for what is sorted; default: the system's directory for temporary files");
  app->add_option("--memory-mib", options->memory_mib,
                  "of a history: memory; what doesn't fit is sorted in files")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  app->add_option("--as-of", options->as_of, "leave out what has left its window by then; default: now");
  app->add_option("--expect", options->expect, "compare with this file, which digest --json wrote");
  app->add_flag("--wait", options->wait, "first wait until the daemon's checkpoints hold all of its input");
  app->add_option("--timeout", options->timeout_s, "seconds to wait for a daemon at most")
      ->check(CLI::Range(1, 86'400))
      ->capture_default_str();
  app->add_flag("--json", options->json, "answer as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunDigest(*options); }};
}

}  // namespace seen
