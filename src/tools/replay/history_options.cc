#include "tools/replay/history_options.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "tools/common_options.h"
#include "tools/progress.h"
#include "tools/reach_brokers.h"

namespace seen {
namespace {

Result<std::vector<TopicRange>> RangesOf(const HistoryOptions& options, const ReplayTarget& target,
                                         std::string_view replayed_into, const HistoryTimes& times) {
  TopicRange range{.brokers = options.from_brokers.empty() ? target.brokers : options.from_brokers,
                   .client = {},
                   .topic = {},
                   .times = times,
                   .from_offsets = {},
                   .to_offsets = {},
                   .words = {}};
  // Another cluster has its own credentials.
  auto client = ReadClientSettings("--from-client", options.from_client,
                                   options.from_brokers.empty() ? target.client : ClientSettings());
  if (!client) return Fail(client.error());
  range.client = std::move(*client);
  for (const auto& [name, text, into] :
       {std::tuple{"--from-offsets", &options.from_offsets, &range.from_offsets},
        {"--to-offsets", &options.to_offsets, &range.to_offsets}}) {
    auto offsets = ParseOffsets(*text);
    if (!offsets) return Fail(Code::kInvalidArgument, fmt::format("{}: {}", name, offsets.error().message));
    *into = std::move(*offsets);
  }
  for (const auto& [partition, from] : range.from_offsets) {
    const auto to = range.to_offsets.find(partition);
    if (to == range.to_offsets.end() || from <= to->second) continue;
    return Fail(Code::kInvalidArgument, fmt::format("--from-offsets: {0}:{1} is after --to-offsets {0}:{2}",
                                                    partition, from, to->second));
  }
  const auto or_else = [](const std::string& text, std::string_view other) {
    return text.empty() ? std::string(other) : text;
  };
  range.may_be_compacted = options.may_be_compacted;
  range.may_hold_several = !target.config.input.format.binary;
  range.words =
      fmt::format("from {} to {}", or_else(options.from_offsets, or_else(options.since, "its start")),
                  or_else(options.to_offsets, or_else(options.until, "its end")));
  std::vector<TopicRange> ranges;
  for (const std::string& topic : options.from_topics) {
    if (topic == replayed_into && range.brokers == target.brokers) {
      return Fail(
          Code::kInvalidArgument,
          fmt::format("--from-topic: {}: replay sends to this topic (--topic). Remedy: name another topic",
                      topic));
    }
    if (std::any_of(ranges.begin(), ranges.end(), [&](const auto& other) { return other.topic == topic; }))
      continue;
    ranges.push_back(range);
    ranges.back().topic = topic;
  }
  return ranges;
}

}  // namespace

void AddHistoryOptions(CLI::App& app, HistoryOptions& options) {
  app.add_option("--order", options.order, "the files' order: by name, or by the time of their first event")
      ->check(CLI::IsMember({"name", "time"}))
      ->capture_default_str();
  auto* const topics =
      app.add_option("--from-topic", options.from_topics, "read this topic instead of files; may be repeated")
          ->allow_extra_args(false);
  app.add_flag("--compacted", options.may_be_compacted,
               "read --from-topic also if it is compacted, and so lacks events")
      ->needs(topics);
  app.add_option("--from-brokers", options.from_brokers,
                 "the brokers of --from-topic, if it is in another cluster")
      ->check(BrokersProblem);
  app.add_option("--from-client", options.from_client,
                 "as --client, for the brokers of --from-topic; may be repeated")
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  app.add_option("--from-offsets", options.from_offsets, "begin at these offsets: 0:17,1:5")->needs(topics);
  app.add_option("--to-offsets", options.to_offsets, "end before these offsets: 0:170,1:50")->needs(topics);
  app.add_option("--since", options.since,
                 "events (of files) or records (of topics) from this time on: 2026-11-01T00:00:00Z, ms, or "
                 "an age like 7d");
  app.add_option("--until", options.until, "events or records before this time");
}

Status CheckHistoryOptions(const HistoryOptions& options, std::string_view what) {
  const bool from_topic = !options.from_topics.empty();
  if (from_topic == !options.files.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("{} (folders, globs; - for standard input) or --from-topic, but not both", what));
  }
  if (options.from_topics.size() > 1 && (!options.from_offsets.empty() || !options.to_offsets.empty())) {
    return Fail(Code::kInvalidArgument,
                "--from-offsets, --to-offsets: only with one topic; replay the topics one after the other");
  }
  return {};
}

Result<HistoryTimes> HistoryTimesOf(const HistoryOptions& options) {
  HistoryTimes times;
  const TimeMs now = SystemClock().WallNow();
  for (const auto& [name, text, into] :
       {std::tuple{"--since", &options.since, &times.since}, {"--until", &options.until, &times.until}}) {
    if (text->empty()) continue;
    const auto time = ParseTime(name, *text, now);
    if (!time) return Fail(time.error());
    *into = *time;
  }
  if (times.since && times.until && *times.since >= *times.until) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--since, --until: {} isn't before {}, so the range is empty",
                            TimeText(*times.since), TimeText(*times.until)));
  }
  return times;
}

HistoryTimes TimesOfExposures(const HistoryOptions& options, const HistoryTimes& times) {
  return options.from_topics.empty() ? times : HistoryTimes();
}

Result<std::unique_ptr<HistorySource>> OpenHistory(const HistoryOptions& options, ReplayTarget& target,
                                                   std::string_view replayed_into, const HistoryTimes& times,
                                                   const Manifest& manifest, bool reaches_target) {
  // Called after the arguments are checked, and before much is read.
  const auto reach_target = [&] {
    return reaches_target ? ReachBrokers("--brokers", target.brokers, target.client) : Status();
  };
  if (!options.from_topics.empty()) {
    auto ranges = RangesOf(options, target, replayed_into, times);
    if (!ranges) return Fail(ranges.error());
    if (Status reached = reach_target(); !reached) return Fail(reached.error());
    if (Status reached = ReachBrokers(options.from_brokers.empty() ? "--brokers" : "--from-brokers",
                                      ranges->front().brokers, ranges->front().client);
        !reached) {
      return Fail(reached.error());
    }
    return MakeTopicSource(*ranges, manifest);
  }
  EventFormat& format = target.config.input.format;
  format.binary = nullptr;
  format.framed = false;
  auto files = FindHistoryFiles(options.files);
  if (!files) return Fail(files.error());
  for (HistoryFile& file : *files) file.may_be_broken = format.lenient;
  if (files->size() > 1 && options.order == "time")
    files = OrderedByTime(std::move(*files), format, target.config.input.event_bytes_max);
  if (!files) return Fail(files.error());
  if (Status reached = reach_target(); !reached) return Fail(reached.error());
  return MakeFileSource(std::move(*files), manifest, options.keeps_progress);
}

bool ReportFiles(const Manifest& manifest, bool quiet) {
  bool damaged = false;
  for (const ManifestFile& file : manifest.files) {
    if (!file.damage.empty()) fmt::print(stderr, "seenctl: {}\n", Printable(file.damage));
    damaged = damaged || !file.damage.empty();
    if (file.bytes_not_read > 0 && !quiet) {
      fmt::print(stderr, "seenctl: {}: {} bytes that were added since the start aren't read\n",
                 Printable(file.name), WithThousands(file.bytes_not_read));
    }
  }
  return damaged;
}

}  // namespace seen
