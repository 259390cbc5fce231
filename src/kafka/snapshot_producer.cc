#include "kafka/snapshot_producer.h"

#include <atomic>
#include <vector>

#include "base/log.h"
#include "kafka/producing.h"

namespace seen {

struct SnapshotProducer::Impl {
  Options options;
  kafka::ClientHandle client;
  std::map<FilterId, kafka::TopicHandle> topics;  // destroyed before the client
  std::vector<uint64_t> refused;  // tickets librdkafka didn't take: acknowledged as not delivered
  std::atomic<uint64_t> outstanding{0};
  const Acknowledge* acknowledge = nullptr;  // while polling

  std::vector<rd_kafka_message_t> messages;  // of one Produce

  Status Connect();
  void Drop();
  void Produce(std::span<OutgoingSnapshot> snapshots);
  void Finish(uint64_t ticket, bool delivered) {
    outstanding.fetch_sub(1);
    if (acknowledge != nullptr) (*acknowledge)(ticket, delivered);
  }
};

SnapshotProducer::SnapshotProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SnapshotProducer::~SnapshotProducer() { impl_->Drop(); }

Status SnapshotProducer::Impl::Connect() {
  const auto on_delivery = [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    const bool delivered = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (!delivered && message->err != RD_KAFKA_RESP_ERR__PURGE_QUEUE &&
        message->err != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT && kafka::MayLog("snapshot not delivered")) {
      log::Warning("snapshot not delivered", {{"topic", rd_kafka_topic_name(message->rkt)},
                                              {"bytes", message->len},
                                              {"error", rd_kafka_err2str(message->err)}});
    }
    static_cast<Impl*>(opaque)->Finish(reinterpret_cast<uint64_t>(message->_private), delivered);
  };
  auto made = kafka::OpenProducer({options.brokers,
                                   options.client,
                                   {options.queue_bytes_max, options.linger},
                                   // A snapshot is as large as its user's history; the broker decides.
                                   {{"message.max.bytes", "8388608"}},
                                   {},
                                   this,
                                   on_delivery});
  if (!made) return Fail(std::move(made.error()));
  client = std::move(*made);
  for (const auto& [filter, name] : options.topics) {
    auto topic = kafka::MakeTopic(client.get(), name, options.partitioner);
    if (!topic) return Fail(std::move(topic.error()));
    topics.emplace(filter, std::move(*topic));
  }
  return {};
}

void SnapshotProducer::Impl::Drop() {
  if (!client) return;
  rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(client.get(), 200);
  topics.clear();
  client.reset();
}

Result<std::unique_ptr<SnapshotProducer>> SnapshotProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (auto connected = impl->Connect(); !connected) return Fail(std::move(connected.error()));
  return std::unique_ptr<SnapshotProducer>(new SnapshotProducer(std::move(impl)));
}

void SnapshotProducer::TrySend(std::span<OutgoingSnapshot> snapshots) {
  for (size_t from = 0, to = 0; from < snapshots.size(); from = to) {
    const FilterIndex filter = snapshots[from].filter;
    for (to = from; to < snapshots.size() && snapshots[to].filter == filter;) ++to;
    impl_->Produce(snapshots.subspan(from, to - from));
  }
}

// Snapshots of one filter, in a batch: librdkafka reads its clocks and takes the topic's lock once for all.
void SnapshotProducer::Impl::Produce(std::span<OutgoingSnapshot> snapshots) {
  messages.resize(snapshots.size());
  for (size_t i = 0; i < snapshots.size(); ++i) {
    const OutgoingSnapshot& snapshot = snapshots[i];
    rd_kafka_message_t& message = messages[i];
    message = {};
    message.payload = snapshot.bytes.empty() ? nullptr : const_cast<char*>(snapshot.bytes.data());
    message.len = snapshot.bytes.size();
    message.key = const_cast<char*>(snapshot.user_id.data());
    message.key_len = snapshot.user_id.size();
    message._private = reinterpret_cast<void*>(snapshot.ticket);
    message.err = RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
  }
  if (const auto topic = topics.find(snapshots.front().filter); topic != topics.end()) {
    rd_kafka_produce_batch(topic->second.get(), RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, messages.data(),
                           static_cast<int>(messages.size()));
  }
  uint64_t queued = 0;
  for (size_t i = 0; i < snapshots.size(); ++i) {
    const auto error = messages[i].err;
    snapshots[i].queued = error != RD_KAFKA_RESP_ERR__QUEUE_FULL;
    if (!snapshots[i].queued) continue;
    ++queued;
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) continue;
    if (kafka::MayLog("snapshot refused")) {
      log::Warning("snapshot refused",
                   {{"bytes", snapshots[i].bytes.size()}, {"error", rd_kafka_err2str(error)}});
    }
    refused.push_back(snapshots[i].ticket);
  }
  outstanding.fetch_add(queued);
}

void SnapshotProducer::PollAcknowledgements(const Acknowledge& acknowledge) {
  impl_->acknowledge = &acknowledge;
  const auto refused = std::move(impl_->refused);
  impl_->refused.clear();
  for (const uint64_t ticket : refused) impl_->Finish(ticket, false);
  if (impl_->client) rd_kafka_poll(impl_->client.get(), 0);
  if (const auto health = Health(); !health) {
    // An idempotent producer that lost its place is done for: what it holds is given back, and a new one
    // begins.
    if (kafka::MayLog("snapshot producer reopened")) {
      log::Error("snapshot producer reopened", {{"error", health.error().message}});
    }
    impl_->Drop();
    if (const auto connected = impl_->Connect(); !connected) impl_->Drop();
  }
  impl_->acknowledge = nullptr;
}

void SnapshotProducer::SendNow(const Acknowledge& acknowledge) {
  (void)Flush(std::chrono::milliseconds(1), acknowledge);
}

bool SnapshotProducer::Flush(std::chrono::milliseconds timeout, const Acknowledge& acknowledge) {
  PollAcknowledgements(acknowledge);
  impl_->acknowledge = &acknowledge;
  if (impl_->client) rd_kafka_flush(impl_->client.get(), kafka::ToTimeout(timeout));
  impl_->acknowledge = nullptr;
  return impl_->outstanding == 0;
}

uint64_t SnapshotProducer::outstanding() const { return impl_->outstanding; }

Status SnapshotProducer::Health() const {
  if (!impl_->client) return Fail(Code::kRefused, "kafka producer: can't be opened again");
  return kafka::ProducerHealth(impl_->client.get());
}

}  // namespace seen
