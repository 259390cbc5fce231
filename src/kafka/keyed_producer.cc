#include "kafka/keyed_producer.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "base/log.h"
#include "kafka/producer.h"

namespace seen {

// Each record comes back when the producer is opened again. One that didn't would hold its source's offset
// without end.
struct KeyedProducer::Impl {
  explicit Impl(const Options& given)
      : options(given),
        producer({.name = "producer of re-keyed records",
                  .brokers = given.brokers,
                  .client = given.client,
                  .topics = {given.topic},
                  .queue_bytes_max = given.queue_bytes_max,
                  .linger = given.linger,
                  .batch_bytes_max = given.batch_bytes_max,
                  .record_bytes_max = given.record_bytes_max,
                  .on_delivery = [this](const rd_kafka_message_t& message) { OnDelivery(message); },
                  .thread = "rekey-acks",
                  .after_poll = [this] { PassOutcomes(); }}) {}

  Options options;
  std::vector<Outcome> outcomes;  // the producer's thread's
  std::atomic<rd_kafka_resp_err_t> refusal{RD_KAFKA_RESP_ERR_NO_ERROR};
  kafka::Producer producer;

  void OnDelivery(const rd_kafka_message_t& message);
  void PassOutcomes();
};

void KeyedProducer::Impl::OnDelivery(const rd_kafka_message_t& message) {
  const Delivery delivery = producer.OutcomeOf(message);
  // An outage isn't a refusal, and reports itself.
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || kafka::IsRefusal(message.err)) refusal = message.err;
  if (delivery != Delivery::kAcknowledged && !producer.stopping() &&
      kafka::MayLog("re-keyed record not delivered")) {
    log::Warning(
        "re-keyed record not delivered; it is read again",
        {{"topic", options.topic}, {"bytes", message.len}, {"error", rd_kafka_err2str(message.err)}});
  }
  outcomes.push_back({reinterpret_cast<uint64_t>(message._private), delivery});
}

void KeyedProducer::Impl::PassOutcomes() {
  if (!outcomes.empty() && !producer.stopping()) options.on_outcomes(outcomes);
  outcomes.clear();
}

KeyedProducer::KeyedProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
KeyedProducer::~KeyedProducer() = default;

Result<std::unique_ptr<KeyedProducer>> KeyedProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
  return std::unique_ptr<KeyedProducer>(new KeyedProducer(std::move(impl)));
}

std::string KeyedProducer::refusal() const {
  const rd_kafka_resp_err_t error = impl_->refusal;
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? std::string() : rd_kafka_err2str(error);
}

KeyedRecordSink::SendResult KeyedProducer::TrySend(std::string_view key, const Record& record,
                                                   uint64_t ticket) {
  kafka::HeadersHandle headers = kafka::CopyHeaders(static_cast<const rd_kafka_message_t*>(record.message));
  const auto error = impl_->producer.Produce({.key = key,
                                              .value = record.value,
                                              .ticket = reinterpret_cast<void*>(ticket),
                                              .timestamp_ms = std::max<int64_t>(record.timestamp.value, 0),
                                              .headers = &headers});
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return SendResult::kQueued;
  if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) return SendResult::kTooLarge;
  if (kafka::IsRefusal(error)) impl_->refusal = error;
  if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL && kafka::MayLog("re-keyed record refused")) {
    log::Warning("re-keyed record refused, will be sent again",
                 {{"topic", impl_->options.topic}, {"error", rd_kafka_err2str(error)}});
  }
  return SendResult::kFull;
}

}  // namespace seen
