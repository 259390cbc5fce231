#include "kafka/producing.h"

#include <algorithm>

namespace seen::kafka {
namespace {

// librdkafka calls this with the partition count of its latest metadata. `opaque` is the topic's.
int32_t Partition(const rd_kafka_topic_t* topic, const void* key, size_t key_bytes, int32_t partitions,
                  void* opaque, void* message_opaque) {
  if (key == nullptr) {
    return rd_kafka_msg_partitioner_random(topic, key, key_bytes, partitions, opaque, message_opaque);
  }
  const auto partitioner = static_cast<Partitioner>(reinterpret_cast<uintptr_t>(opaque));
  return PartitionOf(partitioner, {static_cast<const char*>(key), key_bytes}, partitions);
}

}  // namespace

ClientSettings ProducerDefaults(const ProducerQueue& queue) {
  return {{"compression.codec", "lz4"}, {"linger.ms", std::to_string(queue.linger.count())}};
}

ClientSettings ProducerImposed(const ProducerQueue& queue) {
  return {{"enable.idempotence", "true"},
          {"acks", "all"},
          {"message.timeout.ms", "0"},
          {"queue.buffering.max.messages", "1000000"},
          {"queue.buffering.max.kbytes",
           std::to_string(std::clamp<uint64_t>(queue.bytes_max / 1024, 1, 2'097'151))}};
}

Result<ClientHandle> OpenProducer(const ProducerSetup& setup) {
  const auto laid_over = [](ClientSettings base, const ClientSettings& changes) {
    for (const auto& [property, value] : changes) base[property] = value;
    return base;
  };
  auto conf = MakeConf(setup.brokers, laid_over(ProducerDefaults(setup.queue), setup.defaults), setup.client,
                       laid_over(ProducerImposed(setup.queue), setup.imposed));
  if (!conf) return Fail(std::move(conf.error()));
  rd_kafka_conf_set_opaque(conf->get(), setup.owner);
  rd_kafka_conf_set_dr_msg_cb(conf->get(), setup.on_delivery);
  return MakeClient(RD_KAFKA_PRODUCER, std::move(*conf));
}

Result<TopicHandle> MakeTopic(rd_kafka_t* client, const std::string& topic, Partitioner partitioner) {
  rd_kafka_topic_conf_t* const conf = rd_kafka_default_topic_conf_dup(client);
  rd_kafka_topic_conf_set_partitioner_cb(conf, Partition);
  rd_kafka_topic_conf_set_opaque(conf, reinterpret_cast<void*>(static_cast<uintptr_t>(partitioner)));
  TopicHandle handle(rd_kafka_topic_new(client, topic.c_str(), conf));
  if (!handle) return FailWith(rd_kafka_last_error(), "topic \"" + topic + "\"");
  return handle;
}

Result<TopicProducer> OpenTopicProducer(const ProducerSetup& setup, const std::string& topic,
                                        Partitioner partitioner) {
  auto client = OpenProducer(setup);
  if (!client) return Fail(std::move(client.error()));
  auto opened = MakeTopic(client->get(), topic, partitioner);
  if (!opened) return Fail(std::move(opened.error()));
  return TopicProducer{std::move(*client), std::move(*opened)};
}

Status ProducerHealth(rd_kafka_t* client) {
  char text[512];
  const auto fatal = rd_kafka_fatal_error(client, text, sizeof text);
  if (fatal == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  if (IsDenied(fatal)) return FailWith(fatal, "kafka producer", {});
  return Fail(Code::kRefused, std::string("kafka producer: ") + text);
}

}  // namespace seen::kafka
