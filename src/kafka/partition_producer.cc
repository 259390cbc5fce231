#include "kafka/partition_producer.h"

#include <utility>
#include <vector>

#include "base/log.h"
#include "kafka/producer.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr const char* kDeliveryMs = "60000";
}  // namespace

struct PartitionProducer::Impl {
  explicit Impl(const Options& given) : options(given), producer(ProducerOptions()) {}

  Options options;
  std::vector<PartitionDelivery> delivered;
  std::map<int32_t, std::string> refusals;
  kafka::Producer producer;

  kafka::Producer::Options ProducerOptions();
  /// Returns why the record isn't taken; empty: it is, or wasn't sent.
  std::string NoteAnswer(int32_t partition, rd_kafka_resp_err_t error);
};

kafka::Producer::Options PartitionProducer::Impl::ProducerOptions() {
  return {
      .name = options.name,
      .brokers = options.brokers,
      .client = options.client,
      .topics = {options.topic},
      .queue_bytes_max = options.queue_bytes_max,
      .linger = options.linger,
      .batch_bytes_max = options.record_bytes_max,
      .record_bytes_max = options.record_bytes_max,
      // Who limits snapshots by message.max.bytes doesn't mean these records: their makers know what the
      // topic takes.
      .imposes_record_bytes = true,
      // State is compressed already, and hashes are as they are.
      .imposed = {{"compression.codec", "none"}, {"message.timeout.ms", kDeliveryMs}},
      .on_delivery = [this](const rd_kafka_message_t& message) {
        const bool ok = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
        delivered.push_back({message.partition, reinterpret_cast<uint64_t>(message._private),
                             ok ? message.offset : -1, message.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
                             NoteAnswer(message.partition, message.err)});
      }};
}

std::string PartitionProducer::Impl::NoteAnswer(int32_t partition, rd_kafka_resp_err_t error) {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) refusals.erase(partition);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR || error == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
      error == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT)
    return {};
  std::string text = kafka::Explain(error, kafka::WriteTo(options.topic));
  std::string& known = refusals[partition];
  if (text != known)
    log::Error("a topic accepts no records",
               {{"topic", options.topic}, {"partition", partition}, {"reason", text}});
  return known = std::move(text);
}

PartitionProducer::PartitionProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PartitionProducer::~PartitionProducer() = default;

Result<std::unique_ptr<PartitionProducer>> PartitionProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
  return std::unique_ptr<PartitionProducer>(new PartitionProducer(std::move(impl)));
}

bool PartitionProducer::TrySend(int32_t partition, std::string_view record, uint64_t ticket) {
  const auto error =
      impl_->producer.Produce({.key = impl_->options.key.empty() ? std::string_view() : impl_->options.key,
                               .value = record,
                               .ticket = reinterpret_cast<void*>(ticket),
                               .partition = partition});
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
  impl_->delivered.push_back({partition, ticket, -1, error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE,
                              impl_->NoteAnswer(partition, error)});
  return true;
}

void PartitionProducer::PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) {
  impl_->producer.Poll(milliseconds(0));
  impl_->producer.KeepOpen();
  for (const PartitionDelivery& delivery : std::exchange(impl_->delivered, {})) on_delivery(delivery);
}

const std::map<int32_t, std::string>& PartitionProducer::refusals() const { return impl_->refusals; }

}  // namespace seen
