#include "kafka/snapshot_producer.h"

#include <atomic>
#include <vector>

#include "base/log.h"
#include "kafka/producing.h"

namespace seen {

struct SnapshotProducer::Impl {
  kafka::ClientHandle client;
  std::map<FilterId, kafka::TopicHandle> topics;  // destroyed before the client
  std::vector<uint64_t> refused;  // tickets librdkafka didn't take: acknowledged as not delivered
  std::atomic<uint64_t> outstanding{0};
  const Acknowledge* acknowledge = nullptr;  // while polling

  void Finish(uint64_t ticket, bool delivered) {
    outstanding.fetch_sub(1);
    if (acknowledge != nullptr) (*acknowledge)(ticket, delivered);
  }
};

SnapshotProducer::SnapshotProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SnapshotProducer::~SnapshotProducer() {
  rd_kafka_purge(impl_->client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(impl_->client.get(), 200);
}

Result<std::unique_ptr<SnapshotProducer>> SnapshotProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>();
  const kafka::ProducerQueue queue{options.queue_bytes_max, options.linger};
  auto defaults = kafka::ProducerDefaults(queue);
  defaults["message.max.bytes"] =
      "8388608";  // a snapshot is as large as its user's history; the broker decides
  auto conf = kafka::MakeConf(options.brokers, defaults, options.client, kafka::ProducerImposed(queue));
  if (!conf) return Fail(std::move(conf.error()));
  rd_kafka_conf_set_opaque(conf->get(), impl.get());
  rd_kafka_conf_set_dr_msg_cb(conf->get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    const bool delivered = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!delivered && message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
        message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT && kafka::MayLog("snapshot not delivered")) {
      log::Warning("snapshot not delivered", {{"topic", rd_kafka_topic_name(message->rkt)},
                                              {"bytes", message->len},
                                              {"error", rd_kafka_err2str(message->err)}});
    }
    static_cast<Impl*>(opaque)->Finish(reinterpret_cast<uint64_t>(message->_private), delivered);
  });
  auto client = kafka::MakeClient(RD_KAFKA_PRODUCER, std::move(*conf));
  if (!client) return Fail(std::move(client.error()));
  impl->client = std::move(*client);
  for (const auto& [filter, name] : options.topics) {
    auto topic = kafka::MakeTopic(impl->client.get(), name, options.partitioner);
    if (!topic) return Fail(std::move(topic.error()));
    impl->topics.emplace(filter, std::move(*topic));
  }
  return std::unique_ptr<SnapshotProducer>(new SnapshotProducer(std::move(impl)));
}

bool SnapshotProducer::TrySend(FilterId filter, std::string_view user_id, std::string_view snapshot,
                               uint64_t ticket) {
  const auto topic = impl_->topics.find(filter);
  const bool known = topic != impl_->topics.end();
  if (known && rd_kafka_produce(topic->second.get(), RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                                const_cast<char*>(snapshot.data()), snapshot.size(), user_id.data(),
                                user_id.size(), reinterpret_cast<void*>(ticket)) == 0) {
    impl_->outstanding.fetch_add(1);
    return true;
  }
  const auto error = known ? rd_kafka_last_error() : RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
  if (kafka::MayLog("snapshot refused")) {
    log::Warning("snapshot refused", {{"bytes", snapshot.size()}, {"error", rd_kafka_err2str(error)}});
  }
  impl_->outstanding.fetch_add(1);
  impl_->refused.push_back(ticket);
  return true;
}

void SnapshotProducer::PollAcknowledgements(const Acknowledge& acknowledge) {
  impl_->acknowledge = &acknowledge;
  const auto refused = std::move(impl_->refused);
  impl_->refused.clear();
  for (const uint64_t ticket : refused) impl_->Finish(ticket, false);
  rd_kafka_poll(impl_->client.get(), 0);
  impl_->acknowledge = nullptr;
}

bool SnapshotProducer::Flush(std::chrono::milliseconds timeout, const Acknowledge& acknowledge) {
  PollAcknowledgements(acknowledge);
  impl_->acknowledge = &acknowledge;
  rd_kafka_flush(impl_->client.get(), kafka::ToTimeout(timeout));
  impl_->acknowledge = nullptr;
  return impl_->outstanding == 0;
}

uint64_t SnapshotProducer::outstanding() const { return impl_->outstanding; }
Status SnapshotProducer::Health() const { return kafka::ProducerHealth(impl_->client.get()); }

}  // namespace seen
