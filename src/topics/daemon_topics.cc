#include "topics/daemon_topics.h"

#include <fmt/format.h>

#include <cstdlib>
#include <limits>

#include "topics/topic_needs.h"

namespace seen {

namespace {
using std::chrono::milliseconds;
constexpr milliseconds kAsk{2000};
constexpr uint64_t kKeyedOverhead = 1024;  // a key of at most 512 bytes
constexpr size_t kMessageBytesDefault = 1 << 20;

// TopicsWatch says how an existing topic differs.
void Log(const TopicSpec& topic, const TopicState& state) {
  if (state.created) log::Info("topic created", {{"topic", topic.name}, {"partitions", state.partitions}});
}

/// How many partitions the topic has that producers write. kNotFound, with similar names and a remedy.
Result<int32_t> CountInput(const Config& config, const Admin& admin) {
  const TopicNeed need = TopicNeeds(config, 0).front();
  auto count = admin.PartitionCount(need.spec.name, kAsk);
  if (count || count.error().code != Code::kNotFound) return count;
  const auto names = admin.TopicNames(kAsk);
  return Fail(Code::kNotFound,
              MissingTopic(need, names ? *names : std::vector<std::string>(), config.kafka.brokers));
}

/// The topic's max.message.bytes. No limit if the broker doesn't know the value or denies this daemon the
/// answer.
Result<size_t> MessageBytesMax(const Admin& admin, const TopicSpec& topic) {
  constexpr size_t kNoLimit = std::numeric_limits<size_t>::max();
  const auto bytes = admin.TopicConfig(topic.name, "max.message.bytes", kAsk, topic.used_for);
  if (!bytes && bytes.error().code == Code::kDenied) return kNoLimit;
  if (!bytes) return Fail(bytes.error());
  return *bytes ? std::strtoull((*bytes)->c_str(), nullptr, 10) : kNoLimit;
}

/// A new topic gets the source's retention, and its message limit plus kKeyedOverhead. Records keep their own
/// timestamps. An existing topic keeps its partitions, retention and limits.
Result<InputTopics> EnsureKeyedTopic(const Config& config, const Admin& admin, int32_t source_partitions) {
  TopicSpec spec{config.input.topic,
                 source_partitions,
                 {{"cleanup.policy", "delete"}, {"message.timestamp.type", "CreateTime"}}};
  const auto existing = admin.PartitionCount(spec.name, kAsk);
  if (existing) {
    spec.partitions = *existing;
  } else if (existing.error().code != Code::kNotFound) {
    return Fail(existing.error());
  } else {
    for (const char* const name : {"retention.ms", "retention.bytes", "max.message.bytes"}) {
      const auto value = admin.TopicConfig(*config.input.source_topic, name, kAsk);
      if (!value) return Fail(value.error());
      if (*value) spec.config[name] = **value;
    }
    if (auto& bytes = spec.config["max.message.bytes"]; !bytes.empty()) {
      // Re-keying makes records longer: their key is a user id.
      bytes = std::to_string(std::min<uint64_t>(std::strtoull(bytes.c_str(), nullptr, 10) + kKeyedOverhead,
                                                std::numeric_limits<int32_t>::max()));
    } else {
      spec.config.erase("max.message.bytes");
    }
  }
  const auto state = admin.EnsureTopic(spec, kAsk);
  if (!state) return Fail(state.error());
  Log(spec, *state);
  InputTopics topics;
  topics.partitions = topics.user_partitions = state->partitions;
  topics.source_partitions = source_partitions;
  topics.message_bytes_max = kMessageBytesDefault;
  if (state->created) {  // not all brokers know it yet
    const auto bytes = spec.config.find("max.message.bytes");
    if (bytes != spec.config.end())
      topics.message_bytes_max = std::strtoull(bytes->second.c_str(), nullptr, 10);
    return topics;
  }
  const auto bytes = admin.TopicConfig(spec.name, "max.message.bytes", kAsk);
  if (!bytes) return Fail(bytes.error());
  if (*bytes) topics.message_bytes_max = std::strtoull((*bytes)->c_str(), nullptr, 10);
  return topics;
}

Result<int32_t> CountUserPartitions(const Config& config, const Admin& admin, InputPartitions input) {
  std::map<std::string, int32_t> snapshots;
  for (const FilterConfig& filter : config.filters) {
    if (!filter.snapshot) continue;
    const auto count = admin.PartitionCount(filter.snapshot->topic, kAsk);
    if (count) {
      snapshots[filter.snapshot->topic] = *count;
    } else if (count.error().code != Code::kNotFound) {
      return Fail(count.error());
    }
  }
  return UserPartitions(config.input.topic, input, snapshots);
}

/// The daemon doesn't wait for the state topic. Without it the state is on this machine only.
std::string StateTopicProblem(const TopicSpec& topic, const Result<TopicState>& state) {
  constexpr std::string_view kRemedy = ", or set state.topic to another topic, or to null";
  if (!state) {
    return state.error().message + ". Let this daemon create it, or create it with " +
           std::to_string(topic.partitions) + " partitions" + std::string(kRemedy) +
           ". Then restart this daemon";
  }
  if (state->partitions >= topic.partitions) return {};
  return "topic \"" + topic.name + "\" has " + std::to_string(state->partitions) +
         " partitions, and users map to " + std::to_string(topic.partitions) + ". Add partitions to it" +
         std::string(kRemedy);
}
}  // namespace

Result<InputTopics> WaitForTopics(const Config& config, const Admin& admin, bool embedded_kafka,
                                  KnownState known, const BrokerWait& wait) {
  const auto partitions = RetryKafka([&] { return CountInput(config, admin); }, wait);
  if (!partitions) return wait.stops() ? Result<InputTopics>() : Fail(partitions.error());
  InputTopics input_topics;
  input_topics.partitions = input_topics.source_partitions = *partitions;
  input_topics.message_bytes_max = kMessageBytesDefault;
  if (config.input.source_topic && !embedded_kafka) {
    const auto keyed = RetryKafka([&] { return EnsureKeyedTopic(config, admin, *partitions); }, wait);
    if (!keyed) return wait.stops() ? Result<InputTopics>() : Fail(keyed.error());
    input_topics = *keyed;
  }
  input_topics.user_partitions = input_topics.partitions;
  if (!embedded_kafka) {
    const InputPartitions of{input_topics.partitions, known.partitions, known.rebuild};
    const auto count = RetryKafka([&] { return CountUserPartitions(config, admin, of); }, wait);
    if (!count) return wait.stops() ? Result<InputTopics>() : Fail(count.error());
    input_topics.user_partitions = *count;
  }

  for (const TopicNeed& need : TopicNeeds(config, input_topics.user_partitions)) {
    if (embedded_kafka || !need.is_created) continue;  // the embedded broker has created its own
    const TopicSpec& topic = need.spec;
    const bool is_state = config.state && topic.name == config.state->topic;
    const auto ensure = [&]() -> Result<TopicState> {
      auto ensured = admin.EnsureTopic(topic, kAsk);
      // The daemon goes on without the state topic, so it doesn't wait for its ACL.
      if (!ensured && is_state && ensured.error().code == Code::kDenied)
        return Fail(Code::kRefused, ensured.error().message);
      return ensured;
    };
    const auto state = RetryKafka(ensure, wait);
    if (is_state) input_topics.state_problem = StateTopicProblem(topic, state);
    if (!state && is_state && !wait.stops()) continue;
    if (!state) return wait.stops() ? Result<InputTopics>() : Fail(state.error());
    if (need.counts && state->partitions < topic.partitions)
      return Fail(Code::kRefused, TooFewPartitions(need, state->partitions, config.kafka.brokers));
    Log(topic, *state);
    const auto bytes = RetryKafka([&] { return MessageBytesMax(admin, topic); }, wait);
    if (!bytes) return wait.stops() ? Result<InputTopics>() : Fail(bytes.error());
    size_t& least = topic.name == config.input.dead_letter_topic ? input_topics.dead_letter_bytes_max
                    : is_state                                   ? input_topics.state_bytes_max
                    : config.updates && topic.name == config.updates->topic ? input_topics.updates_bytes_max
                                                                            : input_topics.snapshot_bytes_max;
    least = std::min(least, *bytes);
  }
  wait.on_problem({}, true);
  return input_topics;
}

namespace {

int32_t Mapped(const InputPartitions& input, const std::map<std::string, int32_t>& snapshots) {
  if (input.rebuild) return input.topic;
  if (input.state > 0 && input.state < input.topic) return input.state;
  const bool grew =
      !snapshots.empty() && std::all_of(snapshots.begin(), snapshots.end(), [&](const auto& topic) {
        return topic.second == snapshots.begin()->second && topic.second < input.topic;
      });
  return grew ? snapshots.begin()->second : input.topic;
}

}  // namespace

Result<int32_t> UserPartitions(const std::string& name, const InputPartitions& input,
                               const std::map<std::string, int32_t>& snapshots) {
  const int32_t partitions = Mapped(input, snapshots);
  for (const auto& [topic, count] : snapshots) {
    // A topic that gained partitions ends no daemon with state: snapshots stay in the first ones.
    if (count == partitions || (input.state > 0 && count > partitions)) continue;
    return Fail(
        Code::kRefused,
        fmt::format("filters[].snapshot.topic: \"{}\" has {} partitions, but users of topic \"{}\" map to "
                    "{}: a snapshot would be in another partition than its reader expects, and old snapshots "
                    "would stay. Remedy: name a topic that doesn't exist yet (the daemon creates it with {} "
                    "partitions), or delete this topic and republish with 'seenctl publish'",
                    topic, count, name, partitions, partitions));
  }
  return partitions;
}

Result<std::unique_ptr<EmbeddedBroker>> StartEmbeddedKafka(Config& config) {
  const int32_t partitions = config.kafka.embedded_partitions;
  std::map<std::string, int32_t> topics = {{config.input.topic, partitions},
                                           {config.input.dead_letter_topic, 1}};
  if (config.input.source_topic) topics[*config.input.source_topic] = partitions;
  for (const FilterConfig& filter : config.filters) {
    if (filter.snapshot) topics[filter.snapshot->topic] = partitions;
  }
  if (config.unexposed) topics[config.unexposed->topic] = partitions;
  if (config.updates) topics[config.updates->topic] = partitions;
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
