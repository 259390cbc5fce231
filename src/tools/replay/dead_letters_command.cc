// seenctl dead-letters: shows what couldn't be decoded, by reason, and sends it again after a fix.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "flow/log_port.h"
#include "kafka/admin.h"
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
constexpr std::chrono::seconds kAwaited{60};  // for the daemons, and two checkpoints more
constexpr std::chrono::seconds kAwaitedMax{180};
constexpr std::string_view kUnknown = "(none)";  // for a record that no daemon wrote

constexpr std::string_view kCutOff =
    "the letter was cut to the topic's limit. Remedy: replay the record from its source";
constexpr std::string_view kRejectedAgain =
    "the letter was sent again before, and the daemon rejected it again. Remedy: restart the daemon with the "
    "configuration of --config. Then add --again";

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

bool WasResent(const Record& record) { return HeaderOf(record, "resent").has_value(); }

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
                            {"message", Printable(LetterHeader(record, "message"))},
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
    text += fmt::format(
        "{} of {}: {} records{}\n    {} to {}\n", word(group, "reason"), word(group, "field"),
        count(group, "records"), group["truncated"] > 0 ? ", " + count(group, "truncated") + " cut off" : "",
        TimeText({group["first_at_ms"].get<int64_t>()}), TimeText({group["last_at_ms"].get<int64_t>()}));
    for (const OrderedJson& place : group["examples"])
      text += fmt::format("    {} partition {} offset {}: {}\n        {}\n", word(place, "topic"),
                          word(place, "partition"), word(place, "offset"), word(place, "message"),
                          word(place, "value"));
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
  bool again = false;
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
                return reason.empty() || LetterHeader(record, "reason") == reason;
              },
          .problem_of = [again = options.again](const Record& record) -> EntryProblem {
            if (IsCutOff(record)) return {"truncated", kCutOff};
            if (WasResent(record) && !again) return {"rejected_again", kRejectedAgain};
            return {};
          },
          .keeps_headers = false,
          .may_be_compacted = true,
          .may_hold_several = !target.config.input.format.binary};
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

/// Waits until the daemons' group has read the target to its present end. The group commits an offset once
/// the letters before it are written.
Status AwaitDaemons(const ReplayTarget& target, bool quiet) {
  const auto ends = EndsOf({target.brokers, target.client, target.topic});
  if (!ends) return Fail(ends.error());
  std::vector<int32_t> partitions;
  partitions.reserve(ends->size());
  for (const auto& [partition, end] : *ends) partitions.push_back(partition);
  const auto admin = Admin::Open(target.brokers, target.client);
  if (!admin) return Fail(admin.error());
  const std::string& group = target.config.kafka.group_id;
  if (!quiet) fmt::print(stderr, "seenctl: waits until the group {} has read the events\n", Printable(group));
  const std::chrono::milliseconds awaited = std::min<std::chrono::milliseconds>(
      kAwaitedMax, kAwaited + 2 * target.config.store.checkpoint_interval);
  for (const Instant until = SystemClock().Now() + awaited; SystemClock().Now() < until;) {
    const auto committed = (*admin)->Committed(group, target.topic, partitions, std::chrono::seconds(10));
    if (!committed) return Fail(committed.error());
    if (std::all_of(ends->begin(), ends->end(), [&](const auto& end) {
          const auto found = committed->find(end.first);
          return found != committed->end() && found->second >= end.second;
        }))
      return {};
    if (Interrupted()) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
  }
  return Fail(Code::kUnavailable, fmt::format("the group {} hasn't read them. Remedy: start its daemons, and "
                                              "run the same command again later",
                                              group));
}

/// How many of the letters that this run sent the daemons rejected again. kUnavailable, kDenied: this can't
/// be known.
Result<uint64_t> CountRejectedAgain(const DeadLettersOptions& options, const ReplayTarget& target,
                                    const TopicRange& range, Manifest& end) {
  if (Status read = AwaitDaemons(target, options.quiet); !read) return Fail(read.error());
  std::set<std::vector<std::string>> records;  // the daemon may write a letter twice
  const WholeTopic letters{.brokers = range.brokers,
                           .client = range.client,
                           .topic = range.topic,
                           .from_offsets = end.FindTopic(range.topic)->next_offsets};
  const auto read = ReadWholeTopic(letters, [&](int32_t, const Record& record) -> Status {
    if (HeaderOf(record, "resent") == end.run)
      records.insert({LetterHeader(record, "source-partition"), LetterHeader(record, "source-offset"),
                      LetterHeader(record, "source-element")});
    return {};
  });
  if (!read) return Fail(read.error());
  return records.size();
}

void PrintOutcome(const DeadLettersOptions& options, const Manifest& end, uint64_t sent_before,
                  const Rejects& rejects, const Result<uint64_t>& rejected_again) {
  const LineCounts counts = end.Counts();
  if (options.json) {
    OrderedJson json = {{"sent", counts.sent},
                        {"sent_before", sent_before},
                        {"still_rejected", counts.rejected},
                        {"rejected_again", rejected_again ? OrderedJson(*rejected_again) : nullptr},
                        {"left_alone", counts.skipped},
                        {"finished", end.finished}};
    fmt::print("{}\n", JsonText(json));
    return;
  }
  fmt::print("{} sent again, {} left behind, {} not selected{}{}\n",
             WithThousands(counts.sent - std::min(sent_before, counts.sent)), WithThousands(counts.rejected),
             WithThousands(counts.skipped),
             sent_before > 0 ? fmt::format("; earlier runs sent {}", WithThousands(sent_before)) : "",
             end.finished ? "" : "; not finished");
  if (!rejected_again) {
    fmt::print("whether the daemon rejects some again isn't known: {}\n",
               Printable(rejected_again.error().message));
  } else if (*rejected_again > 0) {
    fmt::print("{} of them are dead letters again: {}\n", WithThousands(*rejected_again), kRejectedAgain);
  }
  for (const auto& [reason, of] : rejects.reasons()) {
    fmt::print("    {}: {}\n", reason, WithThousands(of.count));
    for (const Rejects::Example& example : of.examples)
      fmt::print("        {}: {}\n", example.where, Printable(example.message));
  }
}

int Resend(const DeadLettersOptions& options, const ReplayTarget& target, const TopicRange& range) {
  const auto lock = LockManifest(options.progress);
  if (!lock) return ExitWith(lock.error());
  auto manifest =
      OpenManifest(options.progress, target.topic, SkippingRules(target.config, ""), options.quiet);
  if (!manifest) return ExitWith(manifest.error());
  auto source = MakeTopicSource({range}, *manifest);
  if (!source) return ExitWith(source.error());
  const uint64_t sent_before = manifest->Counts().sent;
  Rejects rejects(1.0);  // letters that still can't be decoded never end the run
  auto run = ReplayRun::Make(target,
                             {.rate = options.rate,
                              .publishes_live = true,
                              .resends = true,
                              .manifest_path = options.progress,
                              .quiet = options.quiet},
                             std::move(*manifest), std::move(*source), rejects);
  if (!run) return ExitWith(run.error());
  const Status outcome = (*run)->Run();
  Manifest end = (*run)->manifest();
  Result<uint64_t> rejected_again = 0;
  if (end.finished && end.Counts().sent > sent_before)
    rejected_again = CountRejectedAgain(options, target, range, end);
  PrintOutcome(options, end, sent_before, rejects, rejected_again);
  if (!outcome) return ExitWith(outcome.error());
  const bool is_clean = end.finished && end.Counts().rejected == 0 && rejected_again.value_or(0) == 0;
  return is_clean ? kExitOk : kExitFailed;
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
  app->add_flag("--again", options->again,
                "with --resend: send letters again that were sent before, and that the daemon rejected again")
      ->needs(resend);
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
