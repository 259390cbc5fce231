// replay: sends history into the input topic. A run that was killed can be continued.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "base/text.h"
#include "base/threads.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"
#include "tools/replay/dry_run.h"
#include "tools/replay/history_options.h"
#include "tools/replay/replay_run.h"
#include "tools/replay/target_topic.h"
#include "tools/state/from_history.h"

namespace seen {
namespace {

constexpr size_t kEmptyShown = 10;

struct ReplayOptions {
  ReplaySettings run;  // the rest of it comes from the other options
  KafkaOptions kafka;
  HistoryOptions history;
  std::string config;
  std::string timestamps = "exposed_at";
  std::string rejects;
  std::string rejects_max = "1%";
  uint64_t event_bytes_max = 0;  // 0: the configuration's
  std::string max_lag;
  std::string pace = "live";
  std::string publish = "end";
  std::string into_state;
  bool into_state_topic = false;
  std::string scratch;
  uint64_t memory_mib = 1024;
  int32_t partitions = 0;  // 0: as many as the topic
  std::string live_from = "earliest";
  bool whole = false;
  bool replace = false;
  bool dry_run = false;
  bool status = false;
  bool json = false;
};

bool BuildsState(const ReplayOptions& options) {
  return !options.into_state.empty() || options.into_state_topic;
}

/// Options that count only with one of --into-state and --into-state-topic, or only without them. Events of
/// such a mistake would go to the live topic.
Status CheckCompanions(const CLI::App& app, bool builds) {
  const std::initializer_list<const char*> of_state = {"--scratch",   "--memory-mib", "--partitions",
                                                       "--live-from", "--whole",      "--replace"};
  const std::initializer_list<const char*> of_sending = {"--rate", "--max-lag", "--pace", "--publish"};
  for (const char* const option : builds ? of_sending : of_state) {
    if (app.count(option) == 0) continue;
    return Fail(Code::kInvalidArgument, fmt::format("{}: it {} --into-state DIR or --into-state-topic",
                                                    option, builds ? "doesn't go with" : "needs"));
  }
  return {};
}

/// Parses "2s" or "500ms".
Result<std::optional<std::chrono::milliseconds>> LagMaxOf(const ReplayOptions& options) {
  const std::string_view text = options.max_lag;
  if (text.empty()) return std::optional<std::chrono::milliseconds>();
  int64_t count = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit =
      read.ec == std::errc() ? std::string_view(read.ptr, text.data() + text.size()) : "";
  if (count > 0 && count < 1'000'000 && (unit == "s" || unit == "ms"))
    return std::optional(std::chrono::milliseconds(unit == "s" ? count * 1000 : count));
  return Fail(Code::kInvalidArgument,
              fmt::format("--max-lag: {}: expected a time such as 2s or 500ms", text));
}

int ShowStatus(const ReplayOptions& options) {
  const auto manifest = ReadManifest(options.run.manifest_path);
  if (!manifest) return ExitWith(manifest.error());
  if (!*manifest)
    return ExitWith(
        {Code::kInvalidArgument, fmt::format("--progress: {}: no such file", options.run.manifest_path)});
  fmt::print("{}", options.json ? ManifestJson(**manifest) : PrintableLines(ManifestText(**manifest)));
  return (*manifest)->finished && !(*manifest)->IsDamaged() ? kExitOk : kExitFailed;
}

/// A source that yields nothing is never a success. False: there is such a one, and it is named.
bool ReportEmpty(const HistorySource& source, uint64_t events, uint64_t skipped) {
  const std::vector<std::string> empty = source.Empty();
  for (size_t i = 0; i < std::min(empty.size(), kEmptyShown); ++i)
    fmt::print(stderr, "seenctl: {}: no event in it\n", Printable(empty[i]));
  if (empty.size() > kEmptyShown)
    fmt::print(stderr, "seenctl: {} more without an event\n", empty.size() - kEmptyShown);
  if (events == 0 && skipped > 0) {
    fmt::print(stderr, "seenctl: no event is left: {} are skipped by times, conditions, kinds or filters\n",
               WithThousands(skipped));
  }
  return empty.empty() && events > 0;
}

int RunDryRun(const ReplayOptions& options, const ReplayTarget& target, const HistoryTimes& times,
              HistorySource& source, Rejects& rejects) {
  const bool by_exposure = options.timestamps != "now";
  // Building state bypasses the topic, so it doesn't matter what the topic keeps.
  const bool goes_past = BuildsState(options);
  const Status reached = goes_past ? Status(Fail(Code::kNotFound, ""))
                                   : ReachBrokers("--brokers", target.brokers, target.client);
  const auto looked = reached ? LookAtTarget(target.brokers, target.client, target.topic, target.partitioner)
                              : Result<TargetTopic>(Fail(reached.error()));
  if (!looked && !goes_past)
    fmt::print(stderr, "seenctl: the dry run can't look at the target: {}\n",
               Printable(looked.error().message));
  const TargetTopic* topic = looked ? &*looked : nullptr;
  const auto problems =
      looked ? ProblemsOf(*looked, target.partitioner, by_exposure) : std::vector<TargetProblem>();
  const auto report = DryRun({.rules = {.config = target.config,
                                        .target = topic,
                                        .stamps_exposure = by_exposure,
                                        .times = TimesOfExposures(options.history, times)},
                              .quiet = options.run.quiet},
                             source, rejects);
  if (!report) return ExitWith(report.error());
  fmt::print("{}\n", options.json
                         ? DryRunJson(*report, rejects, topic, problems, options.run.rate)
                         : PrintableLines(DryRunText(*report, rejects, topic, problems, options.run.rate)));
  if (auto few = rejects.CheckShare(report->lines.rejected, report->lines.done(), source); !few) {
    static_cast<void>(ExitWith(few.error()));
    return kExitRejects;
  }
  const bool prevented = std::any_of(problems.begin(), problems.end(),
                                     [](const TargetProblem& problem) { return problem.prevents; });
  const bool is_good = report->whole && report->damaged.empty() && !prevented && (looked || goes_past);
  return ReportEmpty(source, report->lines.sent, report->lines.skipped) && is_good ? kExitOk : kExitFailed;
}

int Finished(const ReplayOptions& options, const ReplayRun& run, const Status& outcome) {
  const Manifest& end = run.manifest();
  const LineCounts counts = end.Counts();
  const BuildCounts& of_run = run.counts();
  const uint64_t sent_before = std::min(run.before().sent, counts.sent);
  static_cast<void>(ReportFiles(end, options.run.quiet));
  uint64_t not_read = 0;
  for (const ManifestFile& file : end.files) not_read += file.bytes_not_read;
  if (options.json) {
    const OrderedJson result = {{"sent", counts.sent},
                                {"sent_before", sent_before},
                                {"rejected", counts.rejected},
                                {"skipped", counts.skipped},
                                {"beyond_windows", of_run.beyond_windows},
                                {"bytes_not_read", not_read},
                                {"finished", end.finished},
                                {"damaged", end.IsDamaged()},
                                {"run", end.run}};
    fmt::print("{}\n", JsonText(result));
  } else if (!options.run.quiet) {
    fmt::print(stderr, "{} events sent, {} rejected, {} skipped{}{}\n",
               WithThousands(counts.sent - sent_before), WithThousands(counts.rejected),
               WithThousands(counts.skipped),
               sent_before > 0 ? fmt::format("; earlier runs sent {}", WithThousands(sent_before)) : "",
               end.finished ? "" : "; not finished");
  }
  if (!outcome) {
    const int status = ExitWith(outcome.error());
    return outcome.error().code == Code::kMalformed ? kExitRejects : status;
  }
  const bool is_useless = of_run.events > 0 && of_run.beyond_windows == of_run.events;
  // Without --config, the daemon's windows aren't known.
  if (const std::string beyond = BeyondWindowsText(of_run); !options.config.empty() && !beyond.empty()) {
    fmt::print(stderr, "seenctl: {}{}\n", is_useless ? "" : "warning: ", beyond);
    if (is_useless) return kExitFailed;
  }
  const bool is_whole = end.finished && !end.IsDamaged();
  return is_whole && ReportEmpty(run.source(), counts.sent, counts.skipped) ? kExitOk : kExitFailed;
}

int RunIntoState(const ReplayOptions& options, const ReplayTarget& target, const HistoryTimes& times,
                 HistorySource& source, Rejects& rejects) {
  const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
  const uint64_t memory_bytes = options.memory_mib << 20;
  const auto sink = options.into_state_topic
                        ? IntoTopic({.option = "--into-state-topic",
                                     .command = "seenctl replay",
                                     .brokers = target.brokers,
                                     .client = target.client,
                                     .topic = target.config.state->topic,
                                     .group = target.config.kafka.group_id,
                                     .remedy = "give --replace, which replaces that state, or ",
                                     .again = "run this command again with --replace",
                                     .scratch = options.scratch,
                                     .replace = options.replace,
                                     .quiet = options.run.quiet})
                        : IntoDirectory({options.into_state, memory_bytes, threads, options.replace});
  Manifest figures{.run = {}, .target = target.topic, .files = {}, .topics = {}};
  const auto write_figures = [&](TimeMs reached_at) {
    return options.run.metrics_path.empty()
               ? Status()
               : WriteReplayMetrics(options.run.metrics_path, figures, rejects, reached_at);
  };
  if (Status written = write_figures(TimeMs()); !written) return ExitWith(written.error());
  const auto report =
      IntoState({.memory_bytes = memory_bytes,
                 .threads = threads,
                 .partitions = options.partitions > 0 ? std::optional(options.partitions) : std::nullopt,
                 .live_from = options.live_from,
                 .whole = options.whole,
                 .since = TimesOfExposures(options.history, times).since,
                 .until = TimesOfExposures(options.history, times).until,
                 .quiet = options.run.quiet},
                target, *sink, source, rejects);
  if (!report) {
    const int status = ExitWith(report.error());
    return report.error().code == Code::kMalformed ? kExitRejects : status;
  }
  figures.topics.push_back({.name = target.topic,
                            .range = {},
                            .next_offsets = {},
                            .records = {.sent = report->counts.events,
                                        .rejected = rejects.total(),
                                        .skipped = report->counts.skipped},
                            .done = true});
  figures.finished = true;
  if (Status written = write_figures(report->counts.last); !written) return ExitWith(written.error());
  if (options.json) fmt::print("{}\n", IntoStateJson(*report, rejects.total()));
  if (!options.json && !options.run.quiet) fmt::print(stderr, "{}", IntoStateText(*report, rejects.total()));
  return ReportEmpty(source, report->counts.events, report->counts.skipped) ? kExitOk : kExitFailed;
}

Status CheckStateTopic(const std::string& path, const Config& config) {
  if (!config.state) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--into-state-topic: {}: state.topic is null. Remedy: name the daemons' state "
                            "topic there, or build with --into-state DIR",
                            path));
  }
  if (config.replica_of) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--into-state-topic: {}: role: \"replica\", and the state topic belongs to group "
                            "{}. Remedy: give --config of a daemon of that group",
                            path, *config.replica_of));
  }
  return {};
}

int RunReplay(ReplayOptions& options, const CLI::App& app) {
  if (options.status) return ShowStatus(options);
  if (Status goes = CheckCompanions(app, BuildsState(options)); !goes) return ExitWith(goes.error());
  if (Status checked = CheckHistoryOptions(options.history, "replay: give FILES"); !checked)
    return ExitWith(checked.error());
  const auto share = ParseShare("--rejects-max", options.rejects_max);
  if (!share) return ExitWith(share.error());
  const auto times = HistoryTimesOf(options.history);
  if (!times) return ExitWith(times.error());
  const auto lag_max = LagMaxOf(options);
  if (!lag_max) return ExitWith(lag_max.error());
  auto target = ReadReplayTarget(options.config, options.kafka, options.event_bytes_max, app);
  if (!target) return ExitWith(target.error());
  if (options.into_state_topic) {
    if (Status has = CheckStateTopic(options.config, target->config); !has) return ExitWith(has.error());
  }
  const bool sends = !options.dry_run && !BuildsState(options);
  if (sends && target->config.input.format.binary && options.history.from_topics.empty()) {
    return ExitWith(
        {Code::kInvalidArgument,
         fmt::format("replay: {}: input.format isn't \"json\", and files hold JSON. Remedy: build "
                     "the state with --into-state or --into-state-topic, or send the events with "
                     "a producer of your own",
                     options.config)});
  }
  const auto lock = sends ? LockManifest(options.run.manifest_path) : Result<std::optional<FileLock>>();
  if (!lock) return ExitWith(lock.error());
  // The limits of topics are in their ranges.
  const std::string skipped_times =
      options.history.from_topics.empty() ? options.history.since + " " + options.history.until : "";
  auto manifest = !sends ? Result<Manifest>(Manifest{})
                         : OpenManifest(options.run.manifest_path, target->topic,
                                        SkippingRules(target->config, skipped_times), options.run.quiet);
  if (!manifest) return ExitWith(manifest.error());
  // Before clients start their threads: those take this priority over.
  if (sends && options.pace == "live") YieldToOtherPrograms();
  options.history.keeps_progress = sends && !options.run.manifest_path.empty();
  // A dry run of files works without brokers.
  auto source = OpenHistory(options.history, *target, target->topic, *times, *manifest, !options.dry_run);
  if (!source) return ExitWith(source.error());
  Rejects rejects(*share);
  if (!options.rejects.empty()) {
    if (auto opened = rejects.OpenFile(options.rejects); !opened) return ExitWith(opened.error());
  }
  CatchInterrupts();
  if (options.dry_run) return RunDryRun(options, *target, *times, **source, rejects);
  if (BuildsState(options)) return RunIntoState(options, *target, *times, **source, rejects);
  options.run.stamps_exposure = options.timestamps != "now";
  options.run.times = TimesOfExposures(options.history, *times);
  options.run.lag_max = *lag_max;
  options.run.watermarks_topic = target->config.watermarks ? target->config.watermarks->topic : "";
  options.run.live_first = options.pace == "live";
  options.run.publishes_live = options.publish == "live";
  auto run = ReplayRun::Make(*target, options.run, std::move(*manifest), std::move(*source), rejects);
  if (!run) return ExitWith(run.error());
  const Status outcome = (*run)->Run();
  return Finished(options, **run, outcome);
}

}  // namespace

Subcommand AddReplay(CLI::App& root) {
  auto options = std::make_shared<ReplayOptions>();
  CLI::App* app = root.add_subcommand("replay", "send history into the input topic: files, or other topics");
  AddKafkaOptions(*app, options->kafka);
  AddPartitionerOption(*app, options->kafka);
  app->add_option(
      "files", options->history.files,
      "JSON lines, plain, gzip or zstd: files, folders, globs; - is standard input. Tables: seen-history");
  auto* const config = app->add_option(
      "--config", options->config,
      "the daemon's configuration: its fields, kinds, conditions, partitioner, topic and brokers");
  AddHistoryOptions(*app, options->history);
  app->add_option("--timestamps", options->timestamps,
                  "the new records' time: exposed_at (windows see history as it was) or now")
      ->check(CLI::IsMember({"exposed_at", "now"}))
      ->capture_default_str();
  app->add_option("--rate", options->run.rate, "events a second; 0: as fast as possible")
      ->check(NotNegative, "NUMBER")
      ->capture_default_str();
  app->add_option(
      "--max-lag", options->max_lag,
      "as fast as the daemons' lag stays below this time, such as 2s or 500ms; reads their watermarks");
  app->add_option(
         "--pace", options->pace,
         "live: live events go first, and replay sends less if they would wait; none: as fast as possible")
      ->check(CLI::IsMember({"live", "none"}))
      ->capture_default_str();
  app->add_option("--publish", options->publish,
                  "when the daemons publish users that only history touches: once, at the run's end, or live")
      ->check(CLI::IsMember({"end", "live"}))
      ->capture_default_str();
  auto* const progress = app->add_option("--progress,--manifest", options->run.manifest_path,
                                         "keep the progress in this file, and continue from it");
  app->add_flag("--status", options->status, "show the progress in the file of --progress, and send nothing")
      ->needs(progress);
  auto* const into_state = app->add_option(
      "--into-state", options->into_state,
      "write the state of a daemon that isn't running into this directory instead; needs --config");
  into_state->needs(config)->excludes(progress);
  app->add_flag("--into-state-topic", options->into_state_topic,
                "write the state into the state topic of daemons that don't run instead; needs --config")
      ->needs(config)
      ->excludes(progress)
      ->excludes(into_state);
  app->add_option(
      "--scratch", options->scratch,
      "a directory for what --into-state-topic sorts; default: the system's directory for temporary files");
  app->add_option("--memory-mib", options->memory_mib,
                  "memory of --into-state and --into-state-topic; what doesn't fit is sorted in files")
      ->check(CLI::Range(64, 1 << 20))
      ->capture_default_str();
  app->add_option("--partitions", options->partitions,
                  "number of partitions of the input topic, if the topic doesn't exist yet")
      ->check(CLI::Range(1, 10'000));
  app->add_option("--live-from", options->live_from,
                  "where the daemon continues with the input topic: earliest, end, or a record time")
      ->capture_default_str();
  app->add_flag("--whole", options->whole, "there is no older history: filters are whole from the beginning");
  app->add_flag("--replace", options->replace,
                "drop the state that --into-state or --into-state-topic finds");
  app->add_flag("--dry-run", options->dry_run, "read everything, send nothing, and report what would happen");
  app->add_option("--rejects", options->rejects,
                  "write what can't be sent to this file, with its place and reason");
  app->add_option("--rejects-max", options->rejects_max,
                  "stop when more than this share of the lines can't be sent")
      ->capture_default_str();
  app->add_option("--metrics", options->run.metrics_path,
                  "write figures to this file, as Prometheus reads them");
  app->add_option("--event-bytes-max", options->event_bytes_max, "as input.event_bytes_max");
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->run.quiet, "no progress");
  return {app, [options, app] { return RunReplay(*options, *app); }};
}

}  // namespace seen
