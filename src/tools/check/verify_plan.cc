#include "tools/check/verify_plan.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>

#include "tools/read_files.h"

namespace seen {
namespace {

/// Options whose values come from the configuration if there is one.
constexpr const char* kRuleOptions[] = {"--window-days",       "--items-max",       "--items-per-day-max",
                                        "--future-skew-s-max", "--event-bytes-max", "--snapshot-topic"};

Result<VerifyPlan> PlanByConfig(const VerifyOptions& options, const CLI::App& app) {
  for (const char* option : kRuleOptions) {
    if (app.count(option) > 0)
      return Fail(Code::kInvalidArgument,
                  fmt::format("{}: the configuration has this value; leave the option out", option));
  }
  const bool own_brokers = app.count("--brokers") > 0;
  std::vector<std::string> overrides;
  if (own_brokers) overrides.push_back("kafka.brokers=" + options.kafka.brokers);
  auto config = ReadConfig(options.config, overrides);
  if (!config) return Fail(config.error());
  // Other brokers have their own credentials.
  auto client = ReadClientSettings("--client", options.kafka.client,
                                   own_brokers ? ClientSettings() : config->kafka.client);
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
  app.add_option(
      "--config", options.config,
      "the daemon's configuration: topic, brokers, fields, kinds, and all filters with their rules; "
      "--filter checks one of them");
  app.add_option("--window-days", options.rules.window_days, "as the filter's window_days")
      ->capture_default_str();
  app.add_option("--items-max", options.rules.items_max, "as the filter's items_max")->capture_default_str();
  app.add_option("--items-per-day-max", options.rules.items_per_day_max, "as the filter's items_per_day_max")
      ->capture_default_str();
  app.add_option("--future-skew-s-max", options.future_skew_s_max, "as input.future_skew_s_max")
      ->capture_default_str();
  app.add_option("--event-bytes-max", options.event_bytes_max, "as input.event_bytes_max")
      ->capture_default_str();
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
  app.add_option("--snapshot-topic", options.snapshot_topic, "where snapshots are published")
      ->capture_default_str();
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

}  // namespace seen
