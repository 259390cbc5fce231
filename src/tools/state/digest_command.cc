// digest: computes a state's digests. The state is a daemon's, that of a stopped daemon's directory, of a
// backup or of the state topic, or the one that a daemon would have after a history.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <thread>

#include "base/text.h"
#include "tools/commands.h"
#include "tools/read_files.h"
#include "tools/state/daemon_state.h"
#include "tools/state/from_history.h"
#include "tools/state/state_commands.h"
#include "tools/state/stored_state.h"

namespace seen {
namespace {

Result<std::optional<StateReport>> ReadExpected(const StateArguments& given) {
  if (given.expect.empty()) return std::optional<StateReport>();
  const auto text = ReadWhole(given.expect);
  if (!text) return Fail(Code::kInvalidArgument, "--expect: " + text.error().message);
  const auto json = nlohmann::json::parse(*text, nullptr, false);
  if (!json.is_object())
    return Fail(Code::kInvalidArgument, "--expect: " + given.expect + ": not the output of digest --json");
  auto expected = StateReportFromJson(json);
  if (!expected) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--expect: {}: {}", given.expect, expected.error().message));
  }
  return std::optional(std::move(*expected));
}

// Windows move, so digests of different times can't be compared.
Result<TimeMs> AsOfOf(const StateArguments& given, const std::optional<StateReport>& expected) {
  const TimeMs now = SystemClock().WallNow();
  if (given.as_of.empty()) return expected ? expected->as_of : now;
  auto as_of = ParseTime("--as-of", given.as_of, now);
  if (as_of && expected && *as_of != expected->as_of) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--as-of: {} is {} ms, and {} is as of {} ms. Remedy: leave --as-of out",
                            given.as_of, as_of->value, given.expect, expected->as_of.value));
  }
  return as_of;
}

Result<StateReport> ComputeOfHistory(const StateArguments& given, TimeMs as_of) {
  auto config = ReadConfig(given.config, given.kafka.brokers);
  if (!config) return Fail(config.error());
  ReplayTarget target{.config = std::move(*config), .brokers = {}, .client = {}, .topic = {}};
  target.brokers = target.config.kafka.brokers;
  target.client = target.config.kafka.client;
  target.topic = target.config.input.topic;
  target.partitioner = target.config.input.partitioner;
  const auto share = ParseShare("--rejects-max", given.rejects_max);
  if (!share) return Fail(share.error());
  const auto times = HistoryTimesOf(given.history);
  if (!times) return Fail(times.error());
  // The history may be the input topic itself: nothing is written into it.
  auto source = OpenHistory(given.history, target, /*replayed_into=*/"", *times, Manifest{});
  if (!source) return Fail(source.error());
  Rejects rejects(*share);
  StateReport report;
  report.source = "history";
  report.as_of = as_of;
  const auto sink = IntoDigest(given.scratch, report);
  const auto built =
      IntoState({.memory_bytes = given.memory_mib << 20,
                 .threads = std::max(1U, std::thread::hardware_concurrency()),
                 .partitions = given.partitions > 0 ? std::optional(given.partitions) : std::nullopt,
                 .live_from = "",
                 .whole = true,
                 .since = TimesOfExposures(given.history, *times).since,
                 .until = TimesOfExposures(given.history, *times).until,
                 .quiet = given.quiet},
                target, *sink, **source, rejects);
  if (!built) return Fail(built.error());
  if (rejects.total() > 0)
    fmt::print(stderr, "seenctl: warning: {} lines are no events, and aren't in the digest\n",
               rejects.total());
  Manifest read;
  (*source)->Describe(read);
  if (ReportFiles(read, given.quiet)) return Fail(Code::kMalformed, "--history: damaged files: no digest");
  return report;
}

Result<StateReport> Compute(const StateArguments& given, TimeMs as_of) {
  if (!given.history.empty()) return ComputeOfHistory(given, as_of);
  if (given.is_stored()) {
    const auto state = OpenStored(given, "digest");
    if (!state) return Fail(state.error());
    return DigestStored(**state, as_of);
  }
  auto daemon = DaemonClient::Make(given.http);
  if (!daemon) return Fail(daemon.error());
  const std::chrono::seconds timeout(given.timeout_s);
  if (given.wait) {
    if (Status waited = WaitForCheckpoints(*daemon, timeout); !waited) return Fail(waited.error());
  }
  return DigestDaemon(*daemon, as_of, nullptr, timeout, given.quiet);
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

Status CheckSources(const StateArguments& given) {
  if (Status one = CheckStored(given); !one) return one;
  if (given.history.empty()) return {};
  if (given.is_stored() || given.wait) {
    return Fail(Code::kInvalidArgument,
                "--history, --from-topic: --dir, --from, --from-state-topic or --wait is given as well; "
                "leave one of them out");
  }
  if (given.config.empty()) {
    return Fail(Code::kInvalidArgument,
                "--history, --from-topic: the state depends on the filters: give the daemon's configuration "
                "by --config");
  }
  return CheckHistoryOptions(given.history, "digest: give --history FILES");
}

}  // namespace

int RunDigest(const StateArguments& given) {
  if (Status one = CheckSources(given); !one) return ExitWith(one.error());
  const auto expected = ReadExpected(given);
  if (!expected) return ExitWith(expected.error());
  const auto as_of = AsOfOf(given, *expected);
  if (!as_of) return ExitWith(as_of.error());
  CatchInterrupts();
  const auto report = Compute(given, *as_of);
  if (!report) {
    const int status = ExitWith(report.error());
    return report.error().code == Code::kMalformed && !given.history.empty() ? kExitRejects : status;
  }
  WarnOfThePast(*report);
  fmt::print("{}", given.json ? JsonText(StateReportToJson(*report), 2) + "\n"
                              : PrintableLines(StateReportText(*report)));
  if (!*expected) return kExitOk;
  const std::vector<std::string> differences = CompareReports(**expected, *report);
  for (const std::string& difference : differences)
    fmt::print(stderr, "seenctl: {}\n", Printable(difference));
  if (differences.empty()) fmt::print(stderr, "equal to {}\n", given.expect);
  return differences.empty() ? kExitOk : kExitFailed;
}

}  // namespace seen
