#pragma once
// What the tails do alike with Kafka: a consumer that commits nothing, and the partitions of topics.

#include <librdkafka/rdkafkacpp.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace seen::client::examples {

/// nullptr: `problem` says why.
inline std::unique_ptr<RdKafka::KafkaConsumer> Connect(
    std::vector<std::pair<std::string, std::string>> settings, std::string& problem) {
  const std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  // The library asks for a group; nothing is committed.
  settings.insert(settings.end(), {{"group.id", "seen-snapshot-tail"},
                                   {"enable.auto.commit", "false"},
                                   {"enable.partition.eof", "true"},
                                   {"auto.offset.reset", "earliest"}});
  for (const auto& [name, value] : settings) {
    if (conf->set(name, value, problem) != RdKafka::Conf::CONF_OK) return nullptr;
  }
  return std::unique_ptr<RdKafka::KafkaConsumer>(RdKafka::KafkaConsumer::create(conf.get(), problem));
}

/// How many partitions the topic has; 0: `problem` says why it can't be told.
inline int PartitionsOf(RdKafka::KafkaConsumer& consumer, const std::string& name, std::string& problem) {
  constexpr int kMetadataTimeoutMs = 10'000;
  const std::unique_ptr<RdKafka::Topic> topic(RdKafka::Topic::create(&consumer, name, nullptr, problem));
  if (topic == nullptr) return 0;
  RdKafka::Metadata* answer = nullptr;
  const RdKafka::ErrorCode code = consumer.metadata(false, topic.get(), &answer, kMetadataTimeoutMs);
  const std::unique_ptr<RdKafka::Metadata> metadata(answer);
  if (code != RdKafka::ERR_NO_ERROR || metadata->topics()->empty()) {
    problem = name + ": " + RdKafka::err2str(code);
    return 0;
  }
  const auto* found = metadata->topics()->front();
  if (found->err() == RdKafka::ERR_NO_ERROR && !found->partitions()->empty())
    return static_cast<int>(found->partitions()->size());
  problem = name + ": " + RdKafka::err2str(found->err());
  return 0;
}

/// Partitions of topics, and where to begin in them.
class Assignment {
 public:
  Assignment() = default;
  Assignment(const Assignment&) = delete;
  Assignment& operator=(const Assignment&) = delete;
  ~Assignment() { RdKafka::TopicPartition::destroy(partitions_); }

  void Add(const std::string& topic, int partitions,
           const std::function<std::int64_t(std::int32_t partition)>& begin_at) {
    for (std::int32_t i = 0; i < partitions; ++i)
      partitions_.push_back(RdKafka::TopicPartition::create(topic, i, begin_at(i)));
  }
  void AddFromBeginning(const std::string& topic, int partitions) {
    Add(topic, partitions, [](std::int32_t) -> std::int64_t { return RdKafka::Topic::OFFSET_BEGINNING; });
  }
  /// In place of the consumer's partitions before. False: `problem` says why.
  bool Give(RdKafka::KafkaConsumer& consumer, std::string& problem) const {
    const RdKafka::ErrorCode code = consumer.assign(partitions_);
    if (code != RdKafka::ERR_NO_ERROR) problem = RdKafka::err2str(code);
    return code == RdKafka::ERR_NO_ERROR;
  }

 private:
  std::vector<RdKafka::TopicPartition*> partitions_;
};

inline std::string_view ValueOf(const RdKafka::Message& message) {
  return {static_cast<const char*>(message.payload()), message.len()};
}

}  // namespace seen::client::examples
