#include "kafka/bulk_producer.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "kafka/producing.h"

namespace seen {
namespace {

constexpr uint64_t kBatchHeadBytes =
    128;  // of a batch of one record; Source: Kafka's record batch, version 2

void AddHeader(rd_kafka_headers_t* headers, const std::string& name, const std::string& value) {
  rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                      static_cast<ssize_t>(value.size()));
}

}  // namespace

struct BulkProducer::Impl {
  Options options;
  kafka::ClientHandle client;
  kafka::TopicHandle topic;
  std::atomic<uint64_t> queued{0};
  std::atomic<uint64_t> delivered{0};
  std::atomic<uint64_t> failed{0};
  std::string last_failure;
  size_t since_poll = 0;
  std::vector<rd_kafka_message_t> batch;

  // A poll costs about as much as a message. One poll per hundred records keeps acknowledgements flowing.
  void Count(size_t records) {
    queued.fetch_add(records, std::memory_order_relaxed);
    since_poll += records;
    if (since_poll < 100) return;
    since_poll = 0;
    rd_kafka_poll(client.get(), 0);
  }

  /// Waits a little for room after `error`. `deadline` is set at the first call: reading the clock costs too
  /// much while there is room.
  Status WaitForRoom(rd_kafka_resp_err_t error, std::chrono::milliseconds timeout,
                     std::optional<std::chrono::steady_clock::time_point>& deadline) {
    if (error != RD_KAFKA_RESP_ERR__QUEUE_FULL)
      return kafka::FailWith(error, "produce to " + options.topic, kafka::WriteTo(options.topic));
    const auto now = std::chrono::steady_clock::now();
    if (!deadline) deadline = now + timeout;
    if (now >= *deadline) {
      return Fail(Code::kUnavailable, "produce to " + options.topic + ": the queue stays full");
    }
    rd_kafka_poll(client.get(), 10);
    return {};
  }

  /// The client takes ownership of the headers only if it takes the record.
  template <typename TryOnce>
  Status Produce(rd_kafka_headers_t* headers, std::chrono::milliseconds timeout, const TryOnce& try_once) {
    std::optional<std::chrono::steady_clock::time_point> deadline;
    for (;;) {
      const rd_kafka_resp_err_t error = try_once();
      if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
      if (auto status = WaitForRoom(error, timeout, deadline); !status) {
        rd_kafka_headers_destroy(headers);
        return status;
      }
    }
    Count(1);
    return {};
  }

  void OnDelivery(const rd_kafka_message_t& message) {
    const bool well = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
    (well ? delivered : failed).fetch_add(1, std::memory_order_relaxed);
    if (!well) last_failure = kafka::Explain(message.err, kafka::WriteTo(options.topic));
    if (options.on_delivery) options.on_delivery(reinterpret_cast<uint64_t>(message._private), well);
  }
};

BulkProducer::BulkProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

BulkProducer::~BulkProducer() {
  impl_->options.on_delivery = nullptr;
  rd_kafka_purge(impl_->client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(impl_->client.get(), 200);
}

Result<std::unique_ptr<BulkProducer>> BulkProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  ClientSettings defaults;
  if (options.message_bytes_max > 0) {
    const uint64_t left = std::max(options.message_bytes_max, kBatchHeadBytes) - kBatchHeadBytes;
    defaults["message.max.bytes"] = std::to_string(std::clamp<uint64_t>(left, 1000, 1'000'000'000));
  }
  if (options.batch_bytes_max > 0) defaults["batch.size"] = std::to_string(options.batch_bytes_max);
  auto made = kafka::OpenTopicProducer({options.brokers,
                                        options.client,
                                        {options.queue_bytes_max, options.linger},
                                        std::move(defaults),
                                        {},
                                        impl.get(),
                                        [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
                                          static_cast<Impl*>(opaque)->OnDelivery(*message);
                                        }},
                                       options.topic, options.partitioner);
  if (!made) return Fail(std::move(made.error()));
  impl->client = std::move(made->client);
  impl->topic = std::move(made->topic);
  return std::unique_ptr<BulkProducer>(new BulkProducer(std::move(impl)));
}

Status BulkProducer::Send(std::string_view key, std::string_view value, std::optional<TimeMs> timestamp,
                          uint64_t ticket, std::chrono::milliseconds timeout) {
  const int64_t timestamp_ms = timestamp ? timestamp->value : 0;  // 0: now
  std::optional<std::chrono::steady_clock::time_point> deadline;
  for (;;) {
    const auto error = rd_kafka_producev(
        impl_->client.get(), RD_KAFKA_V_RKT(impl_->topic.get()), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()), RD_KAFKA_V_TIMESTAMP(timestamp_ms),
        RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(ticket)), RD_KAFKA_V_END);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) break;
    if (auto status = impl_->WaitForRoom(error, timeout, deadline); !status) return status;
  }
  impl_->Count(1);
  return {};
}

Status BulkProducer::SendFrom(const Record* from, std::string_view key, std::string_view value,
                              std::optional<TimeMs> timestamp, uint64_t ticket,
                              std::chrono::milliseconds timeout) {
  const Options& options = impl_->options;
  rd_kafka_headers_t* found = nullptr;
  if (from != nullptr && from->message != nullptr) {
    rd_kafka_message_headers(static_cast<const rd_kafka_message_t*>(from->message), &found);
  }
  if (found == nullptr && options.headers.empty()) return Send(key, value, timestamp, ticket, timeout);
  rd_kafka_headers_t* headers =
      found != nullptr ? rd_kafka_headers_copy(found) : rd_kafka_headers_new(options.headers.size());
  for (const auto& [name, text] : options.headers) {
    if (found != nullptr) rd_kafka_header_remove(headers, name.c_str());
    AddHeader(headers, name, text);
  }
  const int64_t timestamp_ms = timestamp ? timestamp->value : 0;  // 0: now
  return impl_->Produce(headers, timeout, [&] {
    return rd_kafka_producev(
        impl_->client.get(), RD_KAFKA_V_RKT(impl_->topic.get()), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()), RD_KAFKA_V_TIMESTAMP(timestamp_ms),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(ticket)), RD_KAFKA_V_END);
  });
}

Status BulkProducer::SendMark(int32_t partition, const std::string& header, const std::string& value,
                              uint64_t ticket, std::chrono::milliseconds timeout) {
  rd_kafka_headers_t* headers = rd_kafka_headers_new(impl_->options.headers.size() + 1);
  for (const auto& [name, text] : impl_->options.headers) AddHeader(headers, name, text);
  AddHeader(headers, header, value);
  return impl_->Produce(headers, timeout, [&] {
    return rd_kafka_producev(impl_->client.get(), RD_KAFKA_V_RKT(impl_->topic.get()),
                             RD_KAFKA_V_PARTITION(partition), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                             RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(reinterpret_cast<void*>(ticket)),
                             RD_KAFKA_V_END);
  });
}

Status BulkProducer::SendNow(std::span<const KeyedRecord> records, std::chrono::milliseconds timeout) {
  auto& batch = impl_->batch;
  batch.clear();
  for (const auto& [key, value] : records) {
    rd_kafka_message_t message{};
    message.payload = const_cast<char*>(value.data());
    message.len = value.size();
    message.key = const_cast<char*>(key.data());
    message.key_len = key.size();
    batch.push_back(message);
  }
  std::optional<std::chrono::steady_clock::time_point> deadline;
  for (size_t queued = 0; queued < batch.size();) {
    const std::span rest = std::span(batch).subspan(queued);
    rd_kafka_produce_batch(impl_->topic.get(), RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY, rest.data(),
                           static_cast<int>(rest.size()));
    // Once a record finds the queue full, librdkafka doesn't try those behind it.
    const auto refused = std::find_if(rest.begin(), rest.end(), [](const auto& message) {
      return message.err != RD_KAFKA_RESP_ERR_NO_ERROR;
    });
    const auto taken = static_cast<size_t>(refused - rest.begin());
    queued += taken;
    impl_->Count(taken);
    if (refused == rest.end()) break;
    if (auto status = impl_->WaitForRoom(refused->err, timeout, deadline); !status) return status;
  }
  return {};
}

void BulkProducer::Poll(std::chrono::milliseconds wait) {
  impl_->since_poll = 0;
  rd_kafka_poll(impl_->client.get(), kafka::ToTimeout(wait));
}

Status BulkProducer::Flush(std::chrono::milliseconds timeout) {
  const auto error = rd_kafka_flush(impl_->client.get(), kafka::ToTimeout(timeout));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(error, "flush " + impl_->options.topic);
  return kafka::ProducerHealth(impl_->client.get());
}

uint64_t BulkProducer::outstanding() const { return impl_->queued - impl_->delivered - impl_->failed; }
uint64_t BulkProducer::delivered_total() const { return impl_->delivered; }
uint64_t BulkProducer::failed_total() const { return impl_->failed; }
std::string BulkProducer::last_failure() const { return impl_->last_failure; }

}  // namespace seen
