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

struct DeadLetterPlace {
  std::string topic;  // the source of the record
  std::string partition;
  std::string offset;
  std::string value;  // the beginning of the value, with control characters escaped
};

/// The dead letters of one reason and field.
struct DeadLetterGroup {
  uint64_t records = 0;
  uint64_t truncated = 0;  // letters that were cut, so they can't be sent again
  TimeMs first_at, last_at;
  std::vector<DeadLetterPlace> examples;
};

/// One thread.
class DeadLetters {
 public:
  static constexpr size_t kGroupsMax = 1'000;  // further ones go into the group of field "(others)"

  explicit DeadLetters(size_t examples_max) : examples_max_(examples_max) {}
  /// `record`: a record of the dead-letter topic, from one of its readers.
  void Add(const Record& record);

  using Groups = std::map<std::pair<std::string, std::string>, DeadLetterGroup>;  // by reason and field
  const Groups& groups() const { return groups_; }
  uint64_t records() const { return records_; }

  static std::string_view ReasonOf(const Record& record);
  static bool IsTruncated(const Record& record);

 private:
  const size_t examples_max_;
  Groups groups_;
  uint64_t records_ = 0;
};

constexpr size_t kShownBytesMax = 160;
constexpr std::string_view kUnknown = "(none)";  // for a record that no daemon wrote

std::string Shown(std::string_view value) {
  std::string shown;
  for (const char letter : value.substr(0, kShownBytesMax)) {
    if (static_cast<unsigned char>(letter) < 0x20 || letter == 0x7f) {
      shown += fmt::format("\\x{:02x}", static_cast<unsigned char>(letter));
    } else {
      shown += letter;
    }
  }
  return value.size() > kShownBytesMax ? shown + "..." : shown;
}

std::string Header(const Record& record, const char* name) {
  return std::string(HeaderOf(record, name).value_or(kUnknown));
}

std::string_view DeadLetters::ReasonOf(const Record& record) {
  return HeaderOf(record, "reason").value_or(kUnknown);
}

bool DeadLetters::IsTruncated(const Record& record) {
  return HeaderOf(record, "truncated").has_value() || HeaderOf(record, "truncated-key").has_value();
}

void DeadLetters::Add(const Record& record) {
  ++records_;
  std::pair name(std::string(ReasonOf(record)), Header(record, "field"));
  if (!groups_.contains(name) && groups_.size() >= kGroupsMax) name.second = "(others)";
  DeadLetterGroup& group = groups_[std::move(name)];
  if (group.records == 0) group.first_at = group.last_at = record.timestamp;
  ++group.records;
  group.truncated += IsTruncated(record) ? 1u : 0u;
  group.first_at = std::min(group.first_at, record.timestamp);
  group.last_at = std::max(group.last_at, record.timestamp);
  if (group.examples.size() >= examples_max_) return;
  group.examples.push_back({Header(record, "source-topic"), Header(record, "source-partition"),
                            Header(record, "source-offset"),
                            record.value_is_null ? "null" : Shown(record.value)});
}

std::string DeadLettersText(const DeadLetters& letters) {
  if (letters.records() == 0) return "no dead letters\n";
  std::vector<const DeadLetters::Groups::value_type*> groups;
  for (const auto& group : letters.groups()) groups.push_back(&group);
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto* a, const auto* b) { return a->second.records > b->second.records; });
  std::string text;
  for (const auto* each : groups) {
    const auto& [name, group] = *each;
    text +=
        fmt::format("{} of {}: {} records, {} to {}{}\n", name.first, name.second,
                    WithThousands(group.records), TimeText(group.first_at), TimeText(group.last_at),
                    group.truncated > 0 ? fmt::format(", {} cut off", WithThousands(group.truncated)) : "");
    for (const DeadLetterPlace& place : group.examples)
      text += fmt::format("    {} partition {} offset {}: {}\n", place.topic, place.partition, place.offset,
                          place.value);
  }
  return text + fmt::format("{} dead letters\n", WithThousands(letters.records()));
}

std::string DeadLettersJson(const DeadLetters& letters) {
  nlohmann::ordered_json json = {{"records", letters.records()}, {"groups", nlohmann::ordered_json::array()}};
  for (const auto& [name, group] : letters.groups()) {
    nlohmann::ordered_json one = {{"reason", name.first},
                                  {"field", name.second},
                                  {"records", group.records},
                                  {"truncated", group.truncated},
                                  {"first_at_ms", group.first_at.value},
                                  {"last_at_ms", group.last_at.value},
                                  {"examples", nlohmann::ordered_json::array()}};
    for (const DeadLetterPlace& place : group.examples) {
      one["examples"].push_back({{"topic", place.topic},
                                 {"partition", place.partition},
                                 {"offset", place.offset},
                                 {"value", place.value}});
    }
    json["groups"].push_back(std::move(one));
  }
  return json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
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
  DeadLetters letters(options.examples);
  const WholeTopic whole{range.brokers, range.client, range.topic, range.since, options.quiet ? "" : "read"};
  const auto read = ReadWholeTopic(whole, [&](int32_t, const Record& record) -> Status {
    if (range.Has(record.timestamp) &&
        (options.reason.empty() || DeadLetters::ReasonOf(record) == options.reason))
      letters.Add(record);
    return {};
  });
  if (!read) return ExitWith(read.error());
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
      ->check(NotNegative, "NUMBER");
  app->add_flag("--json", options->json, "print the result as JSON");
  app->add_flag("--quiet", options->quiet, "no progress");
  return {app, [options, app] { return RunDeadLetters(*options, *app); }};
}

}  // namespace seen
