#include "kafka/keyed_producer.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "kafka/producing.h"

namespace seen {
namespace {
constexpr int kPollMs = 50;
constexpr size_t kBatchBytesMin = 1024;
constexpr std::chrono::milliseconds kReopenAfter{1000};

Delivery DeliveryOf(rd_kafka_resp_err_t error) {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Delivery::kAcknowledged;
  return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ? Delivery::kTooLarge : Delivery::kFailed;
}
}  // namespace

struct KeyedProducer::Impl {
  Options options;
  std::shared_mutex mutex;  // exclusive while the client is opened again
  kafka::ClientHandle client;
  kafka::TopicHandle topic;       // destroyed before the client
  std::vector<Outcome> outcomes;  // the poll thread's own
  std::atomic<bool> stopping{false};
  std::thread poll;

  Status Connect();
  void Drop();
  void OnDelivery(const rd_kafka_message_t& message);
  void PassOutcomes();
  void Run();
};

Status KeyedProducer::Impl::Connect() {
  const size_t batch_bytes = std::max(kBatchBytesMin, std::min<size_t>(1'000'000, options.batch_bytes_max));
  auto made = kafka::OpenTopicProducer(
      {options.brokers,
       options.client,
       {options.queue_bytes_max, options.linger},
       {{"message.max.bytes",
         std::to_string(std::clamp<size_t>(options.record_bytes_max, 1000, 1'000'000'000))}},
       {{"batch.size", std::to_string(batch_bytes)}},
       this,
       [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
         static_cast<Impl*>(opaque)->OnDelivery(*message);
       }},
      options.topic, Partitioner::kMurmur2);
  if (!made) return Fail(std::move(made.error()));
  client = std::move(made->client);
  topic = std::move(made->topic);
  return {};
}

void KeyedProducer::Impl::Drop() {
  if (!client) return;
  // Repeats until each record has come back: one that didn't would hold its source's offset for ever.
  do {
    rd_kafka_purge(client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(client.get(), 200);
  } while (rd_kafka_outq_len(client.get()) > 0 && !stopping);
  topic.reset();
  client.reset();
}

void KeyedProducer::Impl::OnDelivery(const rd_kafka_message_t& message) {
  const Delivery delivery = DeliveryOf(message.err);
  if (delivery != Delivery::kAcknowledged && !stopping && kafka::MayLog("re-keyed record not delivered")) {
    log::Warning(
        "re-keyed record not delivered; it is read again",
        {{"topic", options.topic}, {"bytes", message.len}, {"error", rd_kafka_err2str(message.err)}});
  }
  if (kafka::IsDenied(message.err)) kafka::NoteDenied(message.err, kafka::WriteTo(options.topic));
  if (delivery == Delivery::kAcknowledged) kafka::NoteAllowed(kafka::WriteTo(options.topic));
  outcomes.push_back({reinterpret_cast<uint64_t>(message._private), delivery});
}

void KeyedProducer::Impl::PassOutcomes() {
  if (!outcomes.empty() && !stopping) options.on_outcomes(outcomes);
  outcomes.clear();
}

void KeyedProducer::Impl::Run() {
  NameThread("rekey-acks");
  while (!stopping) {
    if (!client) {  // couldn't be opened again
      std::this_thread::sleep_for(kReopenAfter);
    } else {
      rd_kafka_poll(client.get(), kPollMs);
      PassOutcomes();
      const auto health = kafka::ProducerHealth(client.get());
      if (health) continue;
      // An idempotent producer can't go on after a fatal error. The records that it holds are read again.
      if (kafka::MayLog("keyed producer reopened")) {
        log::Error("producer of re-keyed records reopened", {{"error", health.error().message}});
      }
    }
    const std::unique_lock lock(mutex);
    Drop();
    (void)Connect();
    PassOutcomes();
  }
}

KeyedProducer::KeyedProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

KeyedProducer::~KeyedProducer() {
  impl_->stopping = true;
  if (impl_->poll.joinable()) impl_->poll.join();
  impl_->Drop();
}

Result<std::unique_ptr<KeyedProducer>> KeyedProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (auto connected = impl->Connect(); !connected) return Fail(std::move(connected.error()));
  impl->poll = std::thread([raw = impl.get()] { raw->Run(); });
  return std::unique_ptr<KeyedProducer>(new KeyedProducer(std::move(impl)));
}

KeyedRecordSink::Taken KeyedProducer::TrySend(std::string_view key, const Record& record, uint64_t ticket) {
  kafka::HeadersHandle headers;
  rd_kafka_headers_t* given = nullptr;
  const auto* const message = static_cast<const rd_kafka_message_t*>(record.message);
  if (message != nullptr && rd_kafka_message_headers(message, &given) == RD_KAFKA_RESP_ERR_NO_ERROR) {
    headers.reset(rd_kafka_headers_copy(given));
  }
  const std::shared_lock lock(impl_->mutex);
  if (!impl_->client) return Taken::kFull;
  const auto produce = [&](auto... more) {
    return rd_kafka_producev(impl_->client.get(), RD_KAFKA_V_RKT(impl_->topic.get()),
                             RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
                             RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
                             RD_KAFKA_V_VALUE(const_cast<char*>(record.value.data()), record.value.size()),
                             RD_KAFKA_V_TIMESTAMP(std::max<int64_t>(record.timestamp.value, 0)),
                             RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(ticket)), more..., RD_KAFKA_V_END);
  };
  const auto error = headers ? produce(RD_KAFKA_VTYPE_HEADERS, headers.get()) : produce();
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    (void)headers.release();  // librdkafka owns them now
    return Taken::kQueued;
  }
  if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) return Taken::kTooLarge;
  if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL && kafka::MayLog("re-keyed record refused")) {
    log::Warning("re-keyed record refused, will be sent again",
                 {{"topic", impl_->options.topic}, {"error", rd_kafka_err2str(error)}});
  }
  if (kafka::IsDenied(error)) kafka::NoteDenied(error, kafka::WriteTo(impl_->options.topic));
  return Taken::kFull;
}

}  // namespace seen
