#include "kafka/keyed_producer.h"

#include <algorithm>
#include <mutex>
#include <shared_mutex>
#include <vector>

#include "base/log.h"
#include "base/threads.h"
#include "kafka/producer.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kKeyedPoll{50};

Delivery DeliveryOf(rd_kafka_resp_err_t error) {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Delivery::kAcknowledged;
  return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ? Delivery::kTooLarge : Delivery::kFailed;
}

kafka::Producer::Options ProducerOptions(const KeyedProducer::Options& options) {
  return {
      .name = "producer of re-keyed records",
      .brokers = options.brokers,
      .client = options.client,
      .topics = {options.topic},
      .queue_bytes_max = options.queue_bytes_max,
      .linger = options.linger,
      .batch_bytes = std::max(kafka::kBatchBytesMin, std::min<size_t>(1'000'000, options.batch_bytes_max)),
      .defaults = {{"message.max.bytes",
                    std::to_string(std::clamp<size_t>(options.record_bytes_max, 1000, 1'000'000'000))}}};
}

}  // namespace

struct KeyedProducer::Impl {
  explicit Impl(const Options& given) : options(given), producer(WithDelivery(ProducerOptions(given))) {}

  Options options;
  std::vector<Outcome> outcomes;  // the thread's own
  std::shared_mutex mutex;        // exclusive while the producer is opened again
  RepeatingThread thread;         // stopped before the producer drops what it holds
  kafka::Producer producer;

  kafka::Producer::Options WithDelivery(kafka::Producer::Options all) {
    all.on_delivery = [this](const rd_kafka_message_t& message) { OnDelivery(message); };
    return all;
  }
  void OnDelivery(const rd_kafka_message_t& message);
  void PassOutcomes();
  milliseconds Step();
};

void KeyedProducer::Impl::OnDelivery(const rd_kafka_message_t& message) {
  const Delivery delivery = DeliveryOf(message.err);
  if (delivery != Delivery::kAcknowledged && !thread.stopping() &&
      kafka::MayLog("re-keyed record not delivered")) {
    log::Warning(
        "re-keyed record not delivered; it is read again",
        {{"topic", options.topic}, {"bytes", message.len}, {"error", rd_kafka_err2str(message.err)}});
  }
  outcomes.push_back({reinterpret_cast<uint64_t>(message._private), delivery});
}

void KeyedProducer::Impl::PassOutcomes() {
  if (!outcomes.empty() && !thread.stopping()) options.on_outcomes(outcomes);
  outcomes.clear();
}

// Each record comes back when the producer is opened again: one that didn't would hold its source's offset
// for ever.
milliseconds KeyedProducer::Impl::Step() {
  producer.Poll(kKeyedPoll);
  PassOutcomes();
  if (producer.Health()) return {};
  const std::unique_lock lock(mutex);
  producer.KeepOpen();
  PassOutcomes();
  return producer.is_open() ? milliseconds(0) : kKeyedPoll;
}

KeyedProducer::KeyedProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KeyedProducer::~KeyedProducer() { impl_->thread.Stop(); }

Result<std::unique_ptr<KeyedProducer>> KeyedProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
  impl->thread.Start("rekey-acks", {}, [raw = impl.get()] { return raw->Step(); });
  return std::unique_ptr<KeyedProducer>(new KeyedProducer(std::move(impl)));
}

KeyedRecordSink::SendResult KeyedProducer::TrySend(std::string_view key, const Record& record,
                                                   uint64_t ticket) {
  kafka::HeadersHandle headers = kafka::CopyHeaders(static_cast<const rd_kafka_message_t*>(record.message));
  const std::shared_lock lock(impl_->mutex);
  const auto error = impl_->producer.Produce({.key = key,
                                              .value = record.value,
                                              .ticket = reinterpret_cast<void*>(ticket),
                                              .timestamp_ms = std::max<int64_t>(record.timestamp.value, 0),
                                              .headers = &headers});
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return SendResult::kQueued;
  if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) return SendResult::kTooLarge;
  if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL && kafka::MayLog("re-keyed record refused")) {
    log::Warning("re-keyed record refused, will be sent again",
                 {{"topic", impl_->options.topic}, {"error", rd_kafka_err2str(error)}});
  }
  return SendResult::kFull;
}

}  // namespace seen
