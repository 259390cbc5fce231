#include "tools/check/verify_input.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>

#include "decode/event_decoder.h"
#include "tools/read_files.h"

namespace seen {
namespace {

Result<VerifyPlan> PlanByConfig(const VerifyOptions& options, const CLI::App& app) {
  auto config = ReadConfig(options.config, app.count("--brokers") > 0 ? options.kafka.brokers : "");
  if (!config) return Fail(config.error());
  auto client = ReadClientSettings("--client", options.kafka.client, config->kafka.client);
  if (!client) return Fail(client.error());
  auto rules = RulesOf(*config);
  if (!rules) return Fail(rules.error());
  VerifyPlan plan{.brokers = config->kafka.brokers,
                  .client = std::move(*client),
                  .topic = app.count("--topic") > 0
                               ? options.kafka.topic
                               : config->input.source_topic.value_or(config->input.topic),
                  .rules = std::move(*rules),
                  .filters = {}};
  std::string names;
  for (size_t i = 0; i < plan.rules.filters.size(); ++i) {
    const std::string& name = plan.rules.filters[i].name;
    names += (i > 0 ? ", " : "") + name;
    if (app.count("--filter") == 0 || options.daemon.filter == name) plan.filters.push_back(i);
  }
  if (plan.filters.empty()) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--filter: {}: the configuration has {}", options.daemon.filter, names));
  }
  return plan;
}

}  // namespace

Result<VerifyPlan> PlanOf(const VerifyOptions& options, const CLI::App& app) {
  if (!options.config.empty()) return PlanByConfig(options, app);
  auto client = options.kafka.Settings();
  if (!client) return Fail(client.error());
  VerifyPlan plan{.brokers = options.kafka.brokers,
                  .client = std::move(*client),
                  .topic = options.kafka.topic,
                  .rules = {},
                  .filters = {0}};
  plan.rules.future_skew_s_max = options.future_skew_s_max;
  plan.rules.event_bytes_max = options.event_bytes_max;
  plan.rules.filters = {options.rules};
  plan.rules.filters[0].name = options.daemon.filter;
  plan.rules.filters[0].snapshot_topic = options.snapshot_topic;
  return plan;
}

void AddVerifyOptions(CLI::App& app, VerifyOptions& options) {
  AddKafkaOptions(app, options.kafka);
  AddAskOptions(app, options.daemon);
  CLI::Option* const config = app.add_option("--config", options.config,
                                             "the daemon's configuration: topic, brokers, fields, kinds, and "
                                             "all filters with their rules; --filter checks one of them");
  // With --config, its filters have these rules.
  const auto rule = [&](const char* name, auto& into, const char* meaning) {
    app.add_option(name, into, meaning)->excludes(config)->capture_default_str();
  };
  rule("--window-days", options.rules.window_days, "as the filter's window_days");
  rule("--items-max", options.rules.items_max, "as the filter's items_max");
  rule("--items-per-day-max", options.rules.items_per_day_max, "as the filter's items_per_day_max");
  rule("--future-skew-s-max", options.future_skew_s_max, "as input.future_skew_s_max");
  rule("--event-bytes-max", options.event_bytes_max, "as input.event_bytes_max");
  app.add_option("--sample", options.sample, "check so many users, and keep only their events; 0: all users")
      ->capture_default_str();
  app.add_option("--seed", options.seed, "which users --sample chooses")->capture_default_str();
  app.add_option("--negatives", options.negatives,
                 "for each user, ask for so many ids that were never sent to the user")
      ->capture_default_str();
  app.add_option("--connections", options.connections, "HTTP connections at once")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_flag("--snapshots", options.snapshots, "check the snapshot topics too");
  rule("--snapshot-topic", options.snapshot_topic, "where snapshots are published");
  app.add_option(
      "--scratch", options.scratch,
      "a directory for what doesn't fit into memory; default: the system's directory for temporary files");
  app.add_option("--memory-mib", options.memory_mib, "memory; what doesn't fit is kept in files")
      ->check(CLI::Range(16, 1 << 20))
      ->capture_default_str();
  app.add_option("--timeout-s", options.timeout_s, "how long the daemon may take to catch up")
      ->capture_default_str();
  app.add_flag("--json", options.json, "print the result as JSON");
  app.add_flag("--quiet", options.quiet, "no progress");
}

namespace {

constexpr int16_t kOwnSource = -1;  // the daemon's own events, if other events come from another topic

/// The topic of the plan's cluster, with progress unless --quiet.
WholeTopic PlannedTopic(const VerifyOptions& options, const VerifyPlan& plan, const std::string& topic) {
  return {plan.brokers, plan.client, topic, {}, options.quiet ? "" : "read " + topic};
}

Status TakeEvent(const VerifyInput& input, const Record& record, int16_t source) {
  return input.judge.ReadAll(record, source, [&](const JudgedEvent& event) -> Status {
    return input.sample.Offer(event.user_id) ? input.buckets.Add(event) : Status();
  });
}

/// Waits until the daemon has what was read. The daemon may read another topic, into which it re-keys this
/// one. Returns the name of that topic, or an empty name.
Result<std::string> WaitForDaemon(const VerifyOptions& options, const VerifyPlan& plan, DaemonClient& daemon,
                                  const std::map<int32_t, int64_t>& read_ends) {
  const std::chrono::duration<double> timeout(options.timeout_s);
  auto ends = read_ends;
  const auto status = daemon.Status();
  if (!status) return Fail(status.error());
  std::string keyed_topic;
  if (status->source_topic == plan.topic) {
    keyed_topic = status->topic;
    if (auto rekeyed = WaitUntilRekeyed(daemon, ends, timeout, options.quiet); !rekeyed)
      return Fail(rekeyed.error());
    auto keyed = EndsOf(PlannedTopic(options, plan, keyed_topic));
    if (!keyed) return Fail(keyed.error());
    ends = std::move(*keyed);
  } else if (status->topic != plan.topic) {
    return Fail(Code::kInvalidArgument,
                fmt::format("--topic: {}: the daemon reads {}", plan.topic,
                            status->source_topic.empty() ? status->topic : status->source_topic));
  }
  if (auto caught_up = WaitUntilCaughtUp(daemon, ends, options.snapshots, timeout, options.quiet); !caught_up)
    return Fail(caught_up.error());
  return keyed_topic;
}

Status ReadSnapshots(const WholeTopic& topic, size_t filter, const VerifyInput& input) {
  const auto read = ReadShrinkingTopic(topic, [&](int32_t, const Record& record) -> Status {
    if (!input.sample.Holds(record.key)) return {};
    return input.buckets.Add(SnapshotRecord{
        .user_id = record.key,
        .filter = static_cast<uint8_t>(filter),
        .bytes = record.value_is_null ? std::nullopt : std::optional<std::string_view>(record.value)});
  });
  return read ? Status() : Fail(read.error());
}

/// What comes after `ranges`, without progress.
WholeTopic RestOf(WholeTopic topic, const std::vector<TopicReader::Range>& ranges) {
  topic.task.clear();
  for (const TopicReader::Range& range : ranges) topic.from_offsets[range.partition] = range.to;
  return topic;
}

}  // namespace

Status LaterUsers::ReadOn() {
  for (WholeTopic& topic : rest_) {
    const auto ranges = ReadWholeTopic(topic, [&](int32_t, const Record& record) -> Status {
      return judge_.ReadAll(record, 0, [&](const JudgedEvent& event) -> Status {
        users_.insert(UserKeyOf(event.user_id));
        return {};
      });
    });
    if (!ranges) return Fail(ranges.error());
    topic = RestOf(std::move(topic), *ranges);
  }
  return {};
}

Result<VerifiedTopic> ReadVerifyInput(const VerifyOptions& options, const VerifyPlan& plan,
                                      DaemonClient& daemon, const VerifyInput& input) {
  const auto ranges =
      ReadWholeTopic(PlannedTopic(options, plan, plan.topic), [&](int32_t partition, const Record& record) {
        return TakeEvent(input, record, static_cast<int16_t>(partition));
      });
  if (!ranges) return Fail(ranges.error());
  VerifiedTopic read;
  for (const TopicReader::Range& range : *ranges)
    read.from_the_start = read.from_the_start && range.from == 0;
  read.rest.push_back(RestOf(PlannedTopic(options, plan, plan.topic), *ranges));
  const auto keyed_topic = WaitForDaemon(options, plan, daemon, read.rest.front().from_offsets);
  if (!keyed_topic) return Fail(keyed_topic.error());
  if (!keyed_topic->empty()) {
    // The daemon writes changes over HTTP only into the keyed topic.
    const auto own = ReadWholeTopic(
        PlannedTopic(options, plan, *keyed_topic), [&](int32_t, const Record& record) -> Status {
          return IsOwnEvent(record.value) ? TakeEvent(input, record, kOwnSource) : Status();
        });
    if (!own) return Fail(own.error());
    read.rest.push_back(RestOf(PlannedTopic(options, plan, *keyed_topic), *own));
  }
  if (!options.snapshots) return read;
  read.snapshots_at = SystemClock().WallNow();
  for (const size_t filter : plan.filters) {
    const std::string& topic = plan.rules.filters[filter].snapshot_topic;
    if (topic.empty()) continue;
    if (Status published = ReadSnapshots(PlannedTopic(options, plan, topic), filter, input); !published)
      return Fail(published.error());
  }
  return read;
}

}  // namespace seen
