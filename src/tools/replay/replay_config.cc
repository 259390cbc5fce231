#include "tools/replay/replay_config.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "tools/read_config.h"

namespace seen {

Result<ReplayTarget> ReadReplayTarget(const std::string& path, const KafkaOptions& options,
                                      uint64_t event_bytes_max, const CLI::App& app) {
  const bool own_brokers = path.empty() || app.count("--brokers") > 0;
  std::vector<std::string> overrides;
  if (own_brokers) overrides.push_back("kafka.brokers=" + options.brokers);
  if (event_bytes_max > 0) overrides.push_back(fmt::format("input.event_bytes_max={}", event_bytes_max));
  auto config = ReadConfig(path, overrides);
  if (!config) return Fail(config.error());
  auto client =
      ReadClientSettings("--client", options.client, own_brokers ? ClientSettings() : config->kafka.client);
  if (!client) return Fail(client.error());
  ReplayTarget target{.config = std::move(*config), .brokers = {}, .client = std::move(*client), .topic = {}};
  target.brokers = target.config.kafka.brokers;
  target.topic = path.empty() || app.count("--topic") > 0 ? options.topic : target.config.input.topic;
  target.partitioner = path.empty() || app.count("--partitioner") > 0 ? *ParsePartitioner(options.partitioner)
                                                                      : target.config.input.partitioner;
  return target;
}

}  // namespace seen
