#include "kafka/bulk_producer.h"

#include <algorithm>
#include <atomic>

#include "kafka/producer.h"

namespace seen {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// Of a batch of one record. Source: Kafka's record batch, version 2.
constexpr uint64_t kBatchHeadBytes = 128;

uint64_t RecordBytesMax(uint64_t message_bytes_max) {
  return message_bytes_max == 0 ? 0 : std::max(message_bytes_max, kBatchHeadBytes + 1) - kBatchHeadBytes;
}

ClientSettings DefaultsOf(const BulkProducer::Options& options) {
  if (options.batch_bytes_max == 0) return {};
  return {{"batch.size", std::to_string(options.batch_bytes_max)}};
}

}  // namespace

struct BulkProducer::Impl {
  explicit Impl(const Options& given)
      : options(given),
        producer({.name = "bulk producer",
                  .brokers = given.brokers,
                  .client = given.client,
                  .topics = {given.topic},
                  .partitioner = given.partitioner,
                  .queue_bytes_max = given.queue_bytes_max,
                  .linger = given.linger,
                  .record_bytes_max = RecordBytesMax(given.message_bytes_max),
                  .defaults = DefaultsOf(given),
                  .on_delivery = [this](const rd_kafka_message_t& message) { OnDelivery(message); }}) {}

  Options options;
  std::atomic<uint64_t> queued{0};
  std::atomic<uint64_t> delivered{0};
  std::atomic<uint64_t> failed{0};
  std::string last_failure;
  std::map<int32_t, int64_t> last_offsets;
  size_t since_poll = 0;
  std::vector<rd_kafka_message_t> batch;
  kafka::Producer producer;

  // A poll costs about as much as a message. One poll per hundred records keeps acknowledgements flowing.
  void Count(size_t records) {
    queued.fetch_add(records, std::memory_order_relaxed);
    since_poll += records;
    if (since_poll < 100) return;
    since_poll = 0;
    producer.Poll(milliseconds(0));
  }

  /// Waits a little for space after `error`. `deadline` is set at the first call: reading the clock costs too
  /// much while there is space.
  Status WaitForSpace(rd_kafka_resp_err_t error, milliseconds timeout,
                      std::optional<SteadyClock::time_point>& deadline) {
    if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
      return kafka::FailWith(error, "produce to " + options.topic, kafka::WriteTo(options.topic));
    const auto now = SteadyClock::now();
    if (!deadline) deadline = now + timeout;
    if (now >= *deadline) {
      return Fail(Code::kUnavailable, "produce to " + options.topic + ": the queue stays full");
    }
    producer.Poll(milliseconds(10));
    return {};
  }

  Status Produce(const kafka::ProducedRecord& record, milliseconds timeout) {
    std::optional<SteadyClock::time_point> deadline;
    for (;;) {
      const auto error = producer.Produce(record);
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
      if (auto status = WaitForSpace(error, timeout, deadline); !status) return status;
    }
    Count(1);
    return {};
  }

  void OnDelivery(const rd_kafka_message_t& message) {
    const bool well = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
    (well ? delivered : failed).fetch_add(1, std::memory_order_relaxed);
    if (!well) last_failure = kafka::Explain(message.err, kafka::WriteTo(options.topic));
    if (well && message.offset >= 0)
      last_offsets[message.partition] = std::max(last_offsets[message.partition], message.offset);
    if (options.on_delivery) options.on_delivery(reinterpret_cast<uint64_t>(message._private), well);
  }
};

BulkProducer::BulkProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
const std::map<int32_t, int64_t>& BulkProducer::last_offsets() const { return impl_->last_offsets; }
BulkProducer::~BulkProducer() { impl_->options.on_delivery = nullptr; }

Result<std::unique_ptr<BulkProducer>> BulkProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
  return std::unique_ptr<BulkProducer>(new BulkProducer(std::move(impl)));
}

Status BulkProducer::Send(std::string_view key, std::string_view value, std::optional<TimeMs> timestamp,
                          uint64_t ticket, milliseconds timeout) {
  return impl_->Produce({.key = key,
                         .value = value,
                         .ticket = reinterpret_cast<void*>(ticket),
                         .timestamp_ms = timestamp ? timestamp->value : 0},
                        timeout);
}

Status BulkProducer::SendFrom(const Record* from, std::string_view key, std::string_view value,
                              std::optional<TimeMs> timestamp, uint64_t ticket, milliseconds timeout) {
  const Options& options = impl_->options;
  kafka::HeadersHandle headers =
      kafka::CopyHeaders(from != nullptr ? static_cast<const rd_kafka_message_t*>(from->message) : nullptr);
  if (!headers && !options.headers.empty()) headers.reset(rd_kafka_headers_new(options.headers.size()));
  for (const auto& [name, text] : options.headers) kafka::SetHeader(headers.get(), name, text);
  return impl_->Produce({.key = key,
                         .value = value,
                         .ticket = reinterpret_cast<void*>(ticket),
                         .timestamp_ms = timestamp ? timestamp->value : 0,
                         .headers = &headers},
                        timeout);
}

Status BulkProducer::SendMark(int32_t partition, const std::string& header, const std::string& value,
                              uint64_t ticket, milliseconds timeout) {
  kafka::HeadersHandle headers(rd_kafka_headers_new(impl_->options.headers.size() + 1));
  for (const auto& [name, text] : impl_->options.headers) kafka::SetHeader(headers.get(), name, text);
  kafka::SetHeader(headers.get(), header, value);
  return impl_->Produce(
      {.ticket = reinterpret_cast<void*>(ticket), .partition = partition, .headers = &headers}, timeout);
}

Status BulkProducer::SendNow(std::span<const KeyedRecord> records, milliseconds timeout) {
  auto& batch = impl_->batch;
  batch.clear();
  for (const auto& [key, value] : records) {
    rd_kafka_message_t message{};
    message.payload = const_cast<char*>(value.data());
    message.len = value.size();
    message.key = const_cast<char*>(key.data());
    message.key_len = key.size();
    message.partition = RD_KAFKA_PARTITION_UA;
    batch.push_back(message);
  }
  rd_kafka_topic_t* const topic = impl_->producer.Topic(impl_->options.topic);
  std::optional<SteadyClock::time_point> deadline;
  for (size_t queued = 0; queued < batch.size();) {
    impl_->producer.ProduceBatch(topic, batch, queued);
    // Once a record finds the queue full, librdkafka doesn't try those behind it.
    const auto refused = std::find_if(
        batch.begin() + static_cast<ptrdiff_t>(queued), batch.end(),
        [](const rd_kafka_message_t& message) { return message.err != RD_KAFKA_RESP_ERR_NO_ERROR; });
    const auto tried = static_cast<size_t>(refused - batch.begin());
    impl_->Count(tried - queued);
    queued = tried;
    if (refused == batch.end()) break;
    if (auto status = impl_->WaitForSpace(refused->err, timeout, deadline); !status) return status;
  }
  return {};
}

void BulkProducer::Poll(milliseconds wait) {
  impl_->since_poll = 0;
  impl_->producer.Poll(wait);
}

Status BulkProducer::Flush(milliseconds timeout) {
  if (!impl_->producer.Flush(timeout))
    return kafka::FailWith(RD_KAFKA_RESP_ERR__TIMED_OUT, "flush " + impl_->options.topic);
  return impl_->producer.Health();
}

uint64_t BulkProducer::outstanding() const { return impl_->queued - impl_->delivered - impl_->failed; }
uint64_t BulkProducer::delivered_total() const { return impl_->delivered; }
uint64_t BulkProducer::failed_total() const { return impl_->failed; }
std::string BulkProducer::last_failure() const { return impl_->last_failure; }

}  // namespace seen
