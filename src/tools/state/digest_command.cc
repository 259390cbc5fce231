// digest: what a state amounts to, of a daemon, of a stopped daemon's directory or of a backup.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "tools/ask/calendar.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/state/daemon_state.h"
#include "tools/state/state_report.h"
#include "tools/state/state_source.h"
#include "tools/whole_file.h"

namespace seen {
namespace {

struct DigestOptions {
  std::string http = AskOptions().http;
  std::string directory;
  std::string backups;
  std::optional<uint32_t> backup;
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
    return Fail(Code::kInvalidArgument,
                "--expect: " + options.expect + ": it isn't what digest --json prints");
  auto expected = StateReportFromJson(json);
  if (!expected) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--expect: {}: {}", options.expect, expected.error().message));
  }
  return std::optional(std::move(*expected));
}

// Digests of different times can't be compared: windows move.
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

Result<StateReport> Compute(const DigestOptions& options, TimeMs as_of) {
  if (!options.directory.empty() || !options.backups.empty()) {
    const auto source = options.directory.empty() ? StateSource::OfBackup(options.backups, options.backup)
                                                  : StateSource::OfDirectory(options.directory);
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

// Compactions go by the state's own time: what they dropped by then isn't there to be summed.
void WarnOfThePast(const StateReport& report) {
  for (const PartitionDigest& partition : report.partitions) {
    if (DayOf(partition.partition_time) <= DayOf(report.as_of)) continue;
    fmt::print(stderr,
               "seenctl: warning: partition {} has records of {}, a day or more after --as-of. What "
               "compactions have "
               "dropped since may be missing in its digest\n",
               partition.partition, TimeText(partition.partition_time));
  }
}

int RunDigest(const DigestOptions& options) {
  if (!options.directory.empty() && !options.backups.empty())
    return ExitWith({Code::kInvalidArgument, "--from: --dir is given as well; leave one of them out"});
  if (options.backup && options.backups.empty())
    return ExitWith({Code::kInvalidArgument, "--backup: it needs --from, the directory of backups"});
  const auto expected = ReadExpected(options);
  if (!expected) return ExitWith(expected.error());
  const auto as_of = AsOfOf(options, *expected);
  if (!as_of) return ExitWith(as_of.error());
  CatchInterrupts();
  const auto report = Compute(options, *as_of);
  if (!report) return ExitWith(report.error());
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
  CLI::App* app = root.add_subcommand("digest", "what a state amounts to: equal sets have equal digests");
  app->add_option("--http", options->http, "the daemon's address")->capture_default_str();
  app->add_option("--dir", options->directory, "a stopped daemon's store.directory, instead of a daemon");
  app->add_option("--from", options->backups, "a directory of backups, instead of a daemon");
  app->add_option("--backup", options->backup, "with --from: the backup's number; default: the newest");
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
