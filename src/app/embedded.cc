#include "app/embedded.h"

#include <map>
#include <string>

#include "base/log.h"

namespace seen {

Result<std::unique_ptr<EmbeddedBroker>> StartEmbeddedKafka(Config& config) {
  const int32_t partitions = config.kafka.embedded_partitions;
  std::map<std::string, int32_t> topics = {{config.input.topic, partitions},
                                           {config.input.dead_letter_topic, 1}};
  if (config.input.source_topic) topics[*config.input.source_topic] = partitions;
  for (const FilterConfig& filter : config.filters) {
    if (filter.snapshot) topics[filter.snapshot->topic] = partitions;
  }
  if (config.unexposed) topics[config.unexposed->topic] = partitions;
  if (WritesWatermarks(config)) topics[config.watermarks->topic] = 1;
  if (config.items) topics[config.items->groups_topic] = partitions;
  if (config.items) topics[config.items->topic] = 1;
  auto broker = EmbeddedBroker::Start(topics);
  if (!broker) return Fail(broker.error());
  config.kafka.brokers = (*broker)->bootstrap();
  // The embedded broker answers a waiting fetch when the wait time ends, not when a record arrives.
  config.kafka.client.emplace("fetch.wait.max.ms", "10");
  log::Info("embedded Kafka, for trials: in memory, the last 5 MB of a partition, librdkafka clients only",
            {{"brokers", config.kafka.brokers}});
  return broker;
}

}  // namespace seen
