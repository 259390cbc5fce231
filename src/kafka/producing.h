#pragma once
// The common part of this room's producers. Internal to this room.

#include <string>

#include "kafka/rdkafka_handles.h"
#include "model/partitioner.h"

namespace seen::kafka {

struct ProducerQueue {
  uint64_t bytes_max = 0;
  std::chrono::milliseconds linger{5};
};

/// Idempotent, acks=all, retried without a time limit, with a queue bounded in bytes. lz4, unless the
/// client's settings say otherwise.
ClientSettings ProducerDefaults(const ProducerQueue& queue);
ClientSettings ProducerImposed(const ProducerQueue& queue);

/// A producer that belongs to one object. That object gets its delivery reports.
struct ProducerSetup {
  const std::string& brokers;
  const ClientSettings& client;
  ProducerQueue queue;
  ClientSettings defaults;  // over ProducerDefaults
  ClientSettings imposed;   // over ProducerImposed
  void* owner = nullptr;    // `opaque` of on_delivery
  void (*on_delivery)(rd_kafka_t*, const rd_kafka_message_t*, void* opaque) = nullptr;
};

/// Connects in the background. kInvalidArgument: settings.
Result<ClientHandle> OpenProducer(const ProducerSetup& setup);

/// `partitioner` maps keyed messages to the topic's real partition count. librdkafka learns and refreshes the
/// count from metadata. Messages without a key go to random partitions.
Result<TopicHandle> MakeTopic(rd_kafka_t* client, const std::string& topic, Partitioner partitioner);

/// A producer into one topic.
struct TopicProducer {
  ClientHandle client;
  TopicHandle topic;  // destroyed before the client
};
Result<TopicProducer> OpenTopicProducer(const ProducerSetup& setup, const std::string& topic,
                                        Partitioner partitioner);

/// kRefused or kDenied, once the idempotent producer can't go on.
Status ProducerHealth(rd_kafka_t* client);

}  // namespace seen::kafka
