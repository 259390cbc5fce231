// verify: the input topic as an oracle, the daemon's answers against it.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/mutex.h"
#include "tools/ask/wait_for_daemon.h"
#include "tools/check/oracle.h"
#include "tools/check/snapshot_topic.h"
#include "tools/check/user_check.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/load/random.h"
#include "tools/progress.h"
#include "tools/whole_topic.h"

namespace seen {
namespace {

struct VerifyOptions {
  KafkaOptions kafka;
  AskOptions daemon;
  OracleRules rules;
  std::string snapshot_topic = "seen-filters";
  uint64_t sample = 0;
  uint64_t seed = 1;
  uint32_t negatives = 64;
  unsigned connections = 4;
  double timeout_s = 120;
  bool snapshots = false;
  bool json = false;
  bool quiet = false;

  Progress::Mode mode() const { return quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto; }
};

struct TopicRead {
  std::map<int32_t, int64_t> ends;
  bool from_the_start = true;  // false: retention has taken some of it
};

Result<TopicRead> ReadInput(const VerifyOptions& options, const ClientSettings& settings, Oracle& oracle) {
  const auto reader = OpenWholeTopic(options.kafka.brokers, settings, options.kafka.topic);
  if (!reader) return Fail(reader.error());
  TopicRead read;
  for (const auto& range : (*reader)->ranges()) {
    read.ends[range.partition] = range.to;
    read.from_the_start = read.from_the_start && range.from == 0;
  }
  const uint64_t total = (*reader)->records_remaining();
  Progress progress("read " + options.kafka.topic, total, "records", options.mode());
  while (true) {
    const auto more =
        (*reader)->Poll(std::chrono::milliseconds(200), [&](int32_t, std::span<const Record> records) {
          for (const Record& record : records)
            oracle.AddRecord(record.timestamp, record.value, record.value_is_null);
        });
    if (!more) return Fail(more.error());
    progress.Update(total - std::min(total, (*reader)->records_remaining()));
    if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
    if (!*more) return read;
  }
}

/// Waits for what was read. The daemon may read another topic, that this one is re-keyed into.
Status WaitForDaemon(const VerifyOptions& options, const ClientSettings& settings, DaemonClient& daemon,
                     const std::map<int32_t, int64_t>& read_ends) {
  const std::chrono::duration<double> timeout(options.timeout_s);
  auto ends = read_ends;
  const auto status = daemon.Status();
  if (!status) return Fail(status.error());
  if (status->source_topic == options.kafka.topic) {
    if (auto rekeyed = WaitUntilRekeyed(daemon, ends, timeout, options.quiet); !rekeyed) return rekeyed;
    auto keyed = EndsOf(options.kafka.brokers, settings, status->topic);
    if (!keyed) return Fail(keyed.error());
    ends = std::move(*keyed);
  } else if (status->topic != options.kafka.topic) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--topic: {}: the daemon reads {}", options.kafka.topic,
                            status->source_topic.empty() ? status->topic : status->source_topic));
  }
  return WaitUntilCaughtUp(daemon, ends, options.snapshots, timeout, options.quiet);
}

std::vector<std::string_view> ChooseUsers(const Oracle& oracle, const VerifyOptions& options) {
  auto users = oracle.Users();
  if (options.sample == 0 || options.sample >= users.size()) return users;
  Random random(options.seed);
  for (size_t i = 0; i < options.sample; ++i)
    std::swap(users[i], users[i + random.Below(static_cast<uint32_t>(users.size() - i))]);
  users.resize(options.sample);
  return users;
}

Result<CheckOutcome> CheckUsers(const VerifyOptions& options, const Oracle& oracle, bool history_complete,
                                const std::vector<std::string_view>& users, const SnapshotTopic* published) {
  std::atomic<size_t> next = 0;
  std::atomic<bool> stop = false;
  struct {
    Mutex mutex;
    CheckOutcome outcome GUARDED_BY(mutex);
    Status failure GUARDED_BY(mutex);
  } found;
  Progress progress("check", users.size(), "users", options.mode());
  const auto work = [&](bool draws) {
    auto daemon = DaemonClient::Make(options.daemon.http);
    const CheckOptions check{.filter = options.daemon.filter,
                             .negatives_per_user = options.negatives,
                             .published = published != nullptr,
                             .history_complete = history_complete};
    UserChecker checker(oracle, std::move(*daemon), check);
    while (!stop && !Interrupted()) {
      const size_t index = next++;
      if (index >= users.size()) break;
      const std::string user(users[index]);
      auto status = checker.Check(user, published != nullptr ? published->Find(user) : nullptr);
      if (!status) {
        const MutexLock lock(found.mutex);
        found.failure = std::move(status);
        stop = true;
      }
      if (draws) progress.Update(std::min(next.load(), users.size()));
    }
    const MutexLock lock(found.mutex);
    found.outcome.Add(checker.outcome());
  };
  {
    std::vector<std::jthread> others;
    for (unsigned i = 1; i < options.connections; ++i) others.emplace_back(work, false);
    work(true);
  }
  const MutexLock lock(found.mutex);
  if (!found.failure) return Fail(found.failure.error());
  if (Interrupted()) return Fail(Code::kUnavailable, "interrupted");
  return std::move(found.outcome);
}

nlohmann::ordered_json ResultJson(const Oracle& oracle, const TopicRead& read, const CheckOutcome& outcome,
                                  bool published) {
  const CheckCounts& counts = outcome.counts;
  nlohmann::ordered_json json = {
      {"ok", counts.Failures() == 0},
      {"records", oracle.counts().records},
      {"exposures", oracle.counts().exposures},
      {"too_old", oracle.counts().too_old},
      {"malformed", oracle.counts().malformed},
      {"topic_from_the_start", read.from_the_start},
      {"users", counts.users},
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
      {"count_mismatches", counts.count_mismatches},
      {"horizon_mismatches", counts.horizon_mismatches},
  };
  if (published) {
    json["published_false_negatives"] = counts.published_false_negatives;
    json["published_missing"] = counts.published_missing;
    json["published_differing"] = counts.published_differing;
  }
  json["failures"] = outcome.failures;
  return json;
}

void PrintResult(const Oracle& oracle, const TopicRead& read, const CheckOutcome& outcome, bool published) {
  const CheckCounts& counts = outcome.counts;
  for (const std::string& failure : outcome.failures) fmt::print("{}\n", failure);
  fmt::print("read      {} records: {} exposures that count, {} too old, {} malformed{}\n",
             WithThousands(oracle.counts().records), WithThousands(oracle.counts().exposures),
             WithThousands(oracle.counts().too_old), WithThousands(oracle.counts().malformed),
             read.from_the_start ? "" : " (the topic's start is gone)");
  fmt::print("checked   {} users, {} items that must be seen, {} that must not\n",
             WithThousands(counts.users), WithThousands(counts.items), WithThousands(counts.negatives));
  fmt::print("false negatives   {} in snapshots, {} in unseen{}\n", counts.snapshot_false_negatives,
             counts.unseen_false_negatives,
             published ? fmt::format(", {} in published snapshots", counts.published_false_negatives) : "");
  fmt::print("false positives   {:.3f} % in snapshots ({:.3f} % asked), {} in unseen ({} unexplained)\n",
             counts.SnapshotFalsePositiveRate() * 100, counts.RateAsked() * 100,
             counts.unseen_false_positives, counts.unexplained);
  fmt::print("mismatches        {} in item counts, {} in horizons{}\n", counts.count_mismatches,
             counts.horizon_mismatches,
             published ? fmt::format(", {} published snapshots differ, {} are missing",
                                     counts.published_differing, counts.published_missing)
                       : "");
  fmt::print("{}\n", counts.Failures() == 0 ? "all is well" : "FAILED");
}

int RunVerify(const VerifyOptions& options) {
  const auto settings = options.kafka.Settings();
  if (!settings) return ExitWith(settings.error());
  auto daemon = DaemonClient::Make(options.daemon.http);
  if (!daemon) return ExitWith(daemon.error());
  CatchInterrupts();

  Oracle oracle(options.rules);
  const auto read = ReadInput(options, *settings, oracle);
  if (!read) return ExitWith(read.error());
  if (auto status = WaitForDaemon(options, *settings, *daemon, read->ends); !status)
    return ExitWith(status.error());

  SnapshotTopic published({options.kafka.brokers, *settings, options.snapshot_topic});
  if (options.snapshots) {
    Progress progress("read " + options.snapshot_topic, 0, "records", options.mode());
    if (auto status = published.CatchUp({}, &progress); !status) return ExitWith(status.error());
  }
  const auto users = ChooseUsers(oracle, options);
  const auto outcome =
      CheckUsers(options, oracle, read->from_the_start, users, options.snapshots ? &published : nullptr);
  if (!outcome) return ExitWith(outcome.error());
  if (options.json) {
    fmt::print("{}\n", ResultJson(oracle, *read, *outcome, options.snapshots).dump(2));
  } else {
    PrintResult(oracle, *read, *outcome, options.snapshots);
  }
  return outcome->counts.Failures() == 0 ? kExitOk : kExitFailed;
}

}  // namespace

Subcommand AddVerify(CLI::App& root) {
  auto options = std::make_shared<VerifyOptions>();
  CLI::App* app =
      root.add_subcommand("verify", "check the daemon against its input topic: false negatives, rates");
  AddKafkaOptions(*app, options->kafka);
  AddAskOptions(*app, options->daemon);
  app->add_option("--window-days", options->rules.window_days, "as the filter's window_days")
      ->capture_default_str();
  app->add_option("--items-max", options->rules.items_max, "as the filter's items_max")
      ->capture_default_str();
  app->add_option("--items-per-day-max", options->rules.items_per_day_max,
                  "as the filter's items_per_day_max")
      ->capture_default_str();
  app->add_option("--future-skew-s-max", options->rules.future_skew_s_max, "as input.future_skew_s_max")
      ->capture_default_str();
  app->add_option("--event-bytes-max", options->rules.event_bytes_max, "as input.event_bytes_max")
      ->capture_default_str();
  app->add_option("--sample", options->sample, "check so many users; 0: all")->capture_default_str();
  app->add_option("--seed", options->seed, "which users --sample chooses")->capture_default_str();
  app->add_option("--negatives", options->negatives, "ids never sent to a user to try with each")
      ->capture_default_str();
  app->add_option("--connections", options->connections, "HTTP connections at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app->add_flag("--snapshots", options->snapshots, "check the snapshot topic too");
  app->add_option("--snapshot-topic", options->snapshot_topic, "where snapshots are published")
      ->capture_default_str();
  app->add_option("--timeout-s", options->timeout_s, "how long the daemon may take to catch up")
      ->capture_default_str();
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options] { return RunVerify(*options); }};
}

}  // namespace seen
