// seenctl dead-letters: shows what couldn't be decoded, by reason, and sends it again after a fix.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <memory>
#include <nlohmann/json.hpp>

#include "kafka/topic_reader.h"
#include "tools/ask/calendar.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"
#include "tools/replay/dead_letters.h"
#include "tools/replay/replay_config.h"
#include "tools/replay/replay_run.h"
#include "tools/usage.h"

namespace seen {
namespace {

struct DeadLettersOptions {
  KafkaOptions kafka;
  std::string config;
  std::string from;  // the dead-letter topic; empty: the configured one
  std::string reason;
  std::string since;
  uint64_t examples = 3;
  bool resend = false;
  std::string progress;
  double rate = 0;
  bool json = false;
  bool quiet = false;
};

/// The letters that the options select. `words`: a resumed run must select the same letters.
TopicRange RangeOf(const DeadLettersOptions& options, const ReplayTarget& target,
                   std::optional<TimeMs> since) {
  const std::string& reason = options.reason;
  return {.brokers = target.brokers,
          .client = target.client,
          .topic = options.from.empty() ? target.config.input.dead_letter_topic : options.from,
          .since = since,
          .words = fmt::format("reason {}, from {}", reason.empty() ? "any" : reason,
                               options.since.empty() ? "its start" : options.since),
          .takes =
              [reason](const Record& record) {
                return !DeadLetters::IsTruncated(record) &&
                       (reason.empty() || DeadLetters::ReasonOf(record) == reason);
              },
          .keeps_headers = false};
}

int List(const DeadLettersOptions& options, const TopicRange& range) {
  auto reader = TopicReader::Open(
      {.brokers = range.brokers, .client = range.client, .topic = range.topic, .from_time = range.since},
      std::chrono::seconds(15));
  if (!reader) return ExitWith(reader.error());
  Progress progress("read", (*reader)->records_remaining(), "records",
                    options.quiet ? Progress::Mode::kQuiet : Progress::Mode::kAuto);
  DeadLetters letters(options.examples);
  uint64_t read = 0;
  for (;;) {
    const auto more =
        (*reader)->Poll(std::chrono::milliseconds(200), [&](int32_t, std::span<const Record> records) {
          for (const Record& record : records) {
            ++read;
            if (range.Has(record.timestamp) &&
                (options.reason.empty() || DeadLetters::ReasonOf(record) == options.reason))
              letters.Add(record);
          }
        });
    if (!more) return ExitWith(more.error());
    progress.Update(read);
    if (Interrupted()) return ExitWith({Code::kUnavailable, "interrupted: not all letters are read"});
    if (!*more) break;
  }
  progress.Finish();
  fmt::print("{}{}", options.json ? DeadLettersJson(letters) : DeadLettersText(letters),
             options.json ? "\n" : "");
  return kExitOk;
}

void PrintOutcome(const DeadLettersOptions& options, const Manifest& end, const Rejects& rejects) {
  const LineCounts counts = end.Counts();
  if (options.json) {
    nlohmann::ordered_json json = {{"sent", counts.sent},
                                   {"still_rejected", counts.rejected},
                                   {"left_alone", counts.skipped},
                                   {"finished", end.finished}};
    fmt::print("{}\n", json.dump());
    return;
  }
  fmt::print("{} sent again, {} still can't be decoded, {} left alone{}\n", WithThousands(counts.sent),
             WithThousands(counts.rejected), WithThousands(counts.skipped),
             end.finished ? "" : "; not finished");
  for (const auto& [reason, of] : rejects.reasons()) {
    fmt::print("    {}: {}\n", reason, WithThousands(of.count));
    for (const Rejects::Example& example : of.examples)
      fmt::print("        {}: {}\n", example.where, example.message);
  }
}

int Resend(const DeadLettersOptions& options, const ReplayTarget& target, const TopicRange& range) {
  const auto lock = LockManifest(options.progress);
  if (!lock) return ExitWith(lock.error());
  auto manifest = OpenManifest(options.progress, target.topic, options.quiet);
  if (!manifest) return ExitWith(manifest.error());
  auto source = MakeTopicSource({range}, *manifest);
  if (!source) return ExitWith(source.error());
  auto topic = LookAtTarget(target.brokers, target.client, target.topic, target.partitioner);
  if (!topic) return ExitWith(topic.error());
  for (const TargetProblem& problem : ProblemsOf(*topic, target.partitioner, true)) {
    if (problem.prevents) return ExitWith({Code::kRefused, problem.what});
    fmt::print(stderr, "seenctl: {}\n", problem.what);
  }
  const auto plan = EventPlan::Make(target.config.input.format);
  if (!plan) return ExitWith({Code::kInvalidArgument, plan.error().path + ": " + plan.error().message});
  Rejects rejects(1.0);  // letters that still can't be decoded never end the run
  ReplayRun run({.brokers = target.brokers,
                 .client = target.client,
                 .target = std::move(*topic),
                 .partitioner = target.partitioner,
                 .event_bytes_max = target.config.input.event_bytes_max,
                 .future_skew_max = target.config.input.future_skew_max,
                 .stamps_exposure = true,
                 .rate = options.rate,
                 .lag_max = {},
                 .watermarks_topic = {},
                 .live_first = true,
                 .publishes_live = true,
                 .manifest_path = options.progress,
                 .metrics_path = {},
                 .quiet = options.quiet},
                *plan, std::move(*manifest), std::move(*source), rejects);
  const Status outcome = run.Run();
  PrintOutcome(options, run.manifest(), rejects);
  if (!outcome) return ExitWith(outcome.error());
  return run.manifest().finished && run.manifest().Counts().rejected == 0 ? kExitOk : kExitFailed;
}

int RunDeadLetters(const DeadLettersOptions& options, const CLI::App& app) {
  if (options.resend && (options.config.empty() || options.progress.empty())) {
    return ExitWith({Code::kInvalidArgument,
                     "--resend: give --config, which decodes the letters now, and --progress FILE, so that "
                     "no letter is sent twice"});
  }
  if (!options.resend && (!options.progress.empty() || options.rate > 0))
    return ExitWith({Code::kInvalidArgument, "--progress, --rate: only with --resend"});
  std::optional<TimeMs> since;
  if (!options.since.empty()) {
    const auto time = ParseTime("--since", options.since, SystemClock().WallNow());
    if (!time) return ExitWith(time.error());
    since = *time;
  }
  const auto target = ReadReplayTarget(options.config, options.kafka, 0, app);
  if (!target) return ExitWith(target.error());
  const TopicRange range = RangeOf(options, *target, since);
  if (Status reached = ReachBrokers("--brokers", target->brokers, target->client); !reached)
    return ExitWith(reached.error());
  CatchInterrupts();
  return options.resend ? Resend(options, *target, range) : List(options, range);
}

}  // namespace

Subcommand AddDeadLetters(CLI::App& root) {
  auto options = std::make_shared<DeadLettersOptions>();
  CLI::App* app = root.add_subcommand(
      "dead-letters", "list records that couldn't be decoded, by reason, or send them again after a fix");
  AddKafkaOptions(*app, options->kafka);
  AddPartitionerOption(*app, options->kafka);
  app->add_option("--config", options->config,
                  "the daemon's configuration: its topics, and its fields after the fix");
  app->add_option("--from", options->from, "the dead-letter topic; by default the configuration's");
  app->add_option("--reason", options->reason, "only records with this reason, such as missing_field");
  app->add_option("--since", options->since,
                  "records from this time on: 2026-11-01T00:00:00Z, ms, or an age like 7d");
  app->add_option("--examples", options->examples, "examples of each group")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  app->add_flag("--resend", options->resend,
                "decode the records with --config, and send those that can be decoded to the input topic");
  app->add_option("--progress", options->progress,
                  "with --resend: keep the progress in this file, so that a later run continues");
  app->add_option("--rate", options->rate, "with --resend: events a second; 0: no limit")
      ->check(NotNegative());
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options, app] { return RunDeadLetters(*options, *app); }};
}

}  // namespace seen
