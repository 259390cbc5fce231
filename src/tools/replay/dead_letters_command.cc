// seenctl dead-letters: shows what couldn't be decoded, by reason, and sends it again after a fix.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "flow/log_port.h"
#include "kafka/topic_reader.h"
#include "tools/commands.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"
#include "tools/replay/replay_run.h"
#include "tools/replay/target_topic.h"

namespace seen {
namespace {

constexpr size_t kGroupsMax = 1'000;  // further ones go into the group of field "(others)"
constexpr size_t kShownBytesMax = 160;
constexpr std::string_view kUnknown = "(none)";  // for a record that no daemon wrote

/// The dead letters of one reason and field.
struct DeadLetterGroup {
  uint64_t records = 0;
  uint64_t truncated = 0;  // letters that were cut, so they can't be sent again
  TimeMs first_at, last_at;
  OrderedJson examples = OrderedJson::array();
};
using DeadLetterGroups =
    std::map<std::pair<std::string, std::string>, DeadLetterGroup>;  // by reason and field

/// The beginning of a value.
std::string ShownValue(std::string_view value) {
  return Printable(value.substr(0, kShownBytesMax)) + (value.size() > kShownBytesMax ? "..." : "");
}

std::string LetterHeader(const Record& record, const char* name) {
  return std::string(HeaderOf(record, name).value_or(kUnknown));
}

bool IsCutOff(const Record& record) {
  return HeaderOf(record, "truncated").has_value() || HeaderOf(record, "truncated-key").has_value();
}

void AddLetter(const Record& record, size_t examples_max, DeadLetterGroups& groups) {
  std::pair name(LetterHeader(record, "reason"), LetterHeader(record, "field"));
  if (!groups.contains(name) && groups.size() >= kGroupsMax) name.second = "(others)";
  DeadLetterGroup& group = groups[std::move(name)];
  if (group.records == 0) group.first_at = group.last_at = record.timestamp;
  ++group.records;
  group.truncated += IsCutOff(record) ? 1u : 0u;
  group.first_at = std::min(group.first_at, record.timestamp);
  group.last_at = std::max(group.last_at, record.timestamp);
  if (group.examples.size() >= examples_max) return;
  group.examples.push_back({{"topic", LetterHeader(record, "source-topic")},
                            {"partition", LetterHeader(record, "source-partition")},
                            {"offset", LetterHeader(record, "source-offset")},
                            {"value", record.value_is_null ? "null" : ShownValue(record.value)}});
}

/// The groups with most records come first.
OrderedJson LettersJson(const DeadLetterGroups& groups) {
  uint64_t records = 0;
  OrderedJson list = OrderedJson::array();
  for (const auto& [name, group] : groups) {
    records += group.records;
    list.push_back({{"reason", name.first},
                    {"field", name.second},
                    {"records", group.records},
                    {"truncated", group.truncated},
                    {"first_at_ms", group.first_at.value},
                    {"last_at_ms", group.last_at.value},
                    {"examples", group.examples}});
  }
  std::stable_sort(list.begin(), list.end(), [](const OrderedJson& a, const OrderedJson& b) {
    return a["records"].get<uint64_t>() > b["records"].get<uint64_t>();
  });
  return {{"records", records}, {"groups", std::move(list)}};
}

std::string LettersText(const OrderedJson& letters) {
  const auto word = [](const OrderedJson& json, const char* key) { return json[key].get<std::string>(); };
  const auto count = [](const OrderedJson& json, const char* key) {
    return WithThousands(json[key].get<uint64_t>());
  };
  std::string text;
  for (const OrderedJson& group : letters["groups"]) {
    text += fmt::format("{} of {}: {} records, {} to {}{}\n", word(group, "reason"), word(group, "field"),
                        count(group, "records"), TimeText({group["first_at_ms"].get<int64_t>()}),
                        TimeText({group["last_at_ms"].get<int64_t>()}),
                        group["truncated"] > 0 ? ", " + count(group, "truncated") + " cut off" : "");
    for (const OrderedJson& place : group["examples"])
      text += fmt::format("    {} partition {} offset {}: {}\n", word(place, "topic"),
                          word(place, "partition"), word(place, "offset"), word(place, "value"));
  }
  return text + (text.empty() ? "no dead letters\n" : count(letters, "records") + " dead letters\n");
}

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
          .times = {since, {}},
          .words = fmt::format("reason {}, from {}", reason.empty() ? "any" : reason,
                               options.since.empty() ? "its start" : options.since),
          .takes =
              [reason](const Record& record) {
                return !IsCutOff(record) && (reason.empty() || LetterHeader(record, "reason") == reason);
              },
          .keeps_headers = false,
          .may_be_compacted = true};
}

int List(const DeadLettersOptions& options, const TopicRange& range) {
  DeadLetterGroups groups;
  const WholeTopic whole{range.brokers, range.client, range.topic, range.times.since,
                         options.quiet ? "" : "read"};
  const auto read = ReadWholeTopic(whole, [&](int32_t, const Record& record) -> Status {
    if (range.times.Has(record.timestamp) &&
        (options.reason.empty() || LetterHeader(record, "reason") == options.reason))
      AddLetter(record, options.examples, groups);
    return {};
  });
  if (!read) return ExitWith(read.error());
  const OrderedJson letters = LettersJson(groups);
  fmt::print("{}", options.json ? JsonText(letters) + "\n" : PrintableLines(LettersText(letters)));
  return kExitOk;
}

void PrintOutcome(const DeadLettersOptions& options, const Manifest& end, const Rejects& rejects) {
  const LineCounts counts = end.Counts();
  if (options.json) {
    OrderedJson json = {{"sent", counts.sent},
                        {"still_rejected", counts.rejected},
                        {"left_alone", counts.skipped},
                        {"finished", end.finished}};
    fmt::print("{}\n", JsonText(json));
    return;
  }
  fmt::print("{} sent again, {} still can't be decoded, {} left alone{}\n", WithThousands(counts.sent),
             WithThousands(counts.rejected), WithThousands(counts.skipped),
             end.finished ? "" : "; not finished");
  for (const auto& [reason, of] : rejects.reasons()) {
    fmt::print("    {}: {}\n", reason, WithThousands(of.count));
    for (const Rejects::Example& example : of.examples)
      fmt::print("        {}: {}\n", example.where, Printable(example.message));
  }
}

int Resend(const DeadLettersOptions& options, const ReplayTarget& target, const TopicRange& range) {
  const auto lock = LockManifest(options.progress);
  if (!lock) return ExitWith(lock.error());
  auto manifest = OpenManifest(options.progress, target.topic, options.quiet);
  if (!manifest) return ExitWith(manifest.error());
  auto source = MakeTopicSource({range}, *manifest);
  if (!source) return ExitWith(source.error());
  Rejects rejects(1.0);  // letters that still can't be decoded never end the run
  auto run = ReplayRun::Make(target,
                             {.rate = options.rate,
                              .publishes_live = true,
                              .manifest_path = options.progress,
                              .quiet = options.quiet},
                             std::move(*manifest), std::move(*source), rejects);
  if (!run) return ExitWith(run.error());
  const Status outcome = (*run)->Run();
  const Manifest& end = (*run)->manifest();
  PrintOutcome(options, end, rejects);
  if (!outcome) return ExitWith(outcome.error());
  return end.finished && end.Counts().rejected == 0 ? kExitOk : kExitFailed;
}

int RunDeadLetters(const DeadLettersOptions& options, const CLI::App& app) {
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
  auto* const config = app->add_option(
      "--config", options->config, "the daemon's configuration: its topics, and its fields after the fix");
  app->add_option("--from", options->from, "the dead-letter topic; by default the configuration's");
  app->add_option("--reason", options->reason, "only records with this reason, such as missing_field");
  app->add_option("--since", options->since,
                  "records from this time on: 2026-11-01T00:00:00Z, ms, or an age like 7d");
  app->add_option("--examples", options->examples, "examples of each group")
      ->check(CLI::Range(0, 100))
      ->capture_default_str();
  auto* const resend = app->add_flag(
      "--resend", options->resend,
      "decode the records with --config, and send those that can be decoded to the input topic");
  auto* const progress = app->add_option(
      "--progress", options->progress,
      "with --resend: keep the progress in this file, so that a later run sends no letter twice");
  resend->needs(config)->needs(progress);
  progress->needs(resend);
  app->add_option("--rate", options->rate, "with --resend: events a second; 0: no limit")
      ->check(NotNegative, "NUMBER")
      ->needs(resend);
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options, app] { return RunDeadLetters(*options, *app); }};
}

}  // namespace seen
