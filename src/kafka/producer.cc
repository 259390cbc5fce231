#include "kafka/producer.h"

#include <algorithm>
#include <mutex>
#include <utility>

#include "base/log.h"

namespace seen::kafka {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kOpenAgainAfter{1000};
constexpr milliseconds kPurgeAgainAfter{1000};
constexpr milliseconds kPurged{200};   // each record comes back
constexpr size_t kFramingBytes = 512;  // of a batch and a record, about the maximum
constexpr size_t kBatchBytesMin = 1024;
constexpr size_t kBatchBytesMax = 1'000'000;  // librdkafka's default
constexpr int kPurgeAll = RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT;

/// How a topic's keys map to partitions, in the 64 bits of a topic's opaque pointer.
struct KeyMap {
  Partitioner partitioner = Partitioner::kMurmur2;
  int32_t partitions = 0;  // 0: all of the topic
};
void* ToOpaque(KeyMap map) {
  return reinterpret_cast<void*>(static_cast<uintptr_t>(map.partitions) << 8 |
                                 static_cast<uintptr_t>(map.partitioner));
}
KeyMap OfOpaque(const void* opaque) {
  const auto bits = reinterpret_cast<uintptr_t>(opaque);
  return {static_cast<Partitioner>(bits & 0xff), static_cast<int32_t>(bits >> 8)};
}

// librdkafka calls this with the partition count of its latest metadata. `opaque` is the topic's.
int32_t Partition(const rd_kafka_topic_t* topic, const void* key, size_t key_bytes, int32_t partitions,
                  void* opaque, void* message_opaque) {
  if (key == nullptr) {
    return rd_kafka_msg_partitioner_random(topic, key, key_bytes, partitions, opaque, message_opaque);
  }
  const KeyMap map = OfOpaque(opaque);
  return PartitionOf(map.partitioner, {static_cast<const char*>(key), key_bytes},
                     map.partitions > 0 ? map.partitions : partitions);
}

TopicHandle OpenTopic(rd_kafka_t* client, const std::string& topic, const Producer::Options& options) {
  const auto partitions = options.partitions.find(topic);
  const KeyMap map{options.partitioner, partitions == options.partitions.end() ? 0 : partitions->second};
  rd_kafka_topic_conf_t* const conf = rd_kafka_default_topic_conf_dup(client);
  rd_kafka_topic_conf_set_partitioner_cb(conf, Partition);
  rd_kafka_topic_conf_set_opaque(conf, ToOpaque(map));
  return TopicHandle(rd_kafka_topic_new(client, topic.c_str(), conf));
}

/// librdkafka limits the range of message.max.bytes.
ClientSettings RecordBytes(const Producer::Options& options) {
  if (options.record_bytes_max == 0) return {};
  const uint64_t bytes = std::clamp<uint64_t>(options.record_bytes_max, 1000, 1'000'000'000);
  return {{"message.max.bytes", std::to_string(bytes)}};
}

/// lz4, unless the client's settings say otherwise.
ClientSettings DefaultsOf(const Producer::Options& options) {
  ClientSettings defaults = options.defaults;
  defaults.insert({{"compression.codec", "lz4"}, {"linger.ms", std::to_string(options.linger.count())}});
  for (const auto& [key, value] : RecordBytes(options)) defaults[key] = value;
  return defaults;
}

/// Retried without a time limit, unless the adapter says otherwise.
ClientSettings ImposedOf(const Producer::Options& options, size_t batch_bytes) {
  ClientSettings imposed = options.imposed;
  if (options.imposes_record_bytes) imposed.merge(RecordBytes(options));
  if (batch_bytes > 0) imposed["batch.size"] = std::to_string(batch_bytes);
  const uint64_t queue_kbytes = std::clamp<uint64_t>(options.queue_bytes_max / 1024, 1, 2'097'151);
  imposed.insert({{"enable.idempotence", "true"},
                  {"acks", "all"},
                  {"message.timeout.ms", "0"},
                  {"queue.buffering.max.messages", "1000000"},
                  {"queue.buffering.max.kbytes", std::to_string(queue_kbytes)}});
  return imposed;
}

}  // namespace

HeadersHandle CopyHeaders(const rd_kafka_message_t* message) {
  rd_kafka_headers_t* found = nullptr;
  if (message == nullptr || rd_kafka_message_headers(message, &found) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      found == nullptr) {
    return nullptr;
  }
  return HeadersHandle(rd_kafka_headers_copy(found));
}

void SetHeader(rd_kafka_headers_t* headers, const std::string& name, std::string_view value) {
  rd_kafka_header_remove(headers, name.c_str());
  rd_kafka_header_add(headers, name.data(), static_cast<ssize_t>(name.size()), value.data(),
                      static_cast<ssize_t>(value.size()));
}

Producer::Producer(Options options)
    : options_(std::move(options)),
      batch_bytes_(options_.batch_bytes_max == 0
                       ? 0
                       : std::clamp(options_.batch_bytes_max, kBatchBytesMin, kBatchBytesMax)) {}

void Producer::Drop() {
  thread_.Stop();
  if (!client_) return;
  rd_kafka_purge(client_.get(), kPurgeAll);
  rd_kafka_flush(client_.get(), ToTimeout(kPurged));
}

Status Producer::Open() {
  Status opened = OpenClient();
  if (opened && !options_.thread.empty()) thread_.Start(options_.thread, {}, [this] { return Step(); });
  return opened;
}

Status Producer::OpenClient() {
  open_at_ = SteadyClock::now() + kOpenAgainAfter;
  auto conf =
      MakeConf(options_.brokers, DefaultsOf(options_), options_.client, ImposedOf(options_, batch_bytes_));
  if (!conf) return Fail(std::move(conf.error()));
  rd_kafka_conf_set_opaque(conf->get(), this);
  rd_kafka_conf_set_dr_msg_cb(conf->get(), [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
    static_cast<Producer*>(opaque)->OnDelivery(*message);
  });
  auto client = MakeClient(RD_KAFKA_PRODUCER, std::move(*conf));
  if (!client) return Fail(std::move(client.error()));
  std::map<std::string, TopicHandle> topics;
  for (const std::string& name : options_.topics) {
    topics[name] = OpenTopic(client->get(), name, options_);
    if (!topics[name]) return FailWith(rd_kafka_last_error(), "topic \"" + name + "\"");
  }
  client_ = std::move(*client);
  topics_ = std::move(topics);
  first_topic_ = options_.topics.empty() ? nullptr : topics_[options_.topics.front()].get();
  ++opened_total_;
  return {};
}

rd_kafka_topic_t* Producer::Topic(const std::string& name) {
  const auto found = topics_.find(name);
  if (found != topics_.end()) return found->second.get();
  auto opened = OpenTopic(client_.get(), name, options_);
  return opened ? (topics_[name] = std::move(opened)).get() : nullptr;
}

rd_kafka_resp_err_t Producer::Produce(const ProducedRecord& record) {
  const std::shared_lock lock(mutex_);
  if (!is_open()) return RD_KAFKA_RESP_ERR__QUEUE_FULL;
  const auto produce = [&](auto... more) {
    return rd_kafka_producev(
        client_.get(), RD_KAFKA_V_RKT(first_topic_), RD_KAFKA_V_PARTITION(record.partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(record.key.data(), record.key.size()),
        RD_KAFKA_V_VALUE(const_cast<char*>(record.value.data()), record.value.size()),
        RD_KAFKA_V_TIMESTAMP(record.timestamp_ms), RD_KAFKA_V_OPAQUE(record.ticket), more..., RD_KAFKA_V_END);
  };
  const bool has_headers = record.headers != nullptr && *record.headers;
  const auto error = has_headers ? produce(RD_KAFKA_VTYPE_HEADERS, record.headers->get()) : produce();
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (has_headers) (void)record.headers->release();  // librdkafka owns them now
  } else if (IsDenied(error)) {
    NoteDenied(error, WriteTo(options_.topics.front()));
  }
  return error;
}

void Producer::ProduceBatch(rd_kafka_topic_t* topic, std::vector<rd_kafka_message_t>& messages, size_t from) {
  if (from >= messages.size()) return;
  rd_kafka_produce_batch(topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_PARTITION,
                         messages.data() + from, static_cast<int>(messages.size() - from));
}

void Producer::Poll(milliseconds wait) {
  if (client_) rd_kafka_poll(client_.get(), ToTimeout(wait));
}

bool Producer::Flush(milliseconds timeout) {
  return !client_ || rd_kafka_flush(client_.get(), ToTimeout(timeout)) == RD_KAFKA_RESP_ERR_NO_ERROR;
}

void Producer::OnDelivery(const rd_kafka_message_t& message) {
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    NoteAllowed(WriteTo(rd_kafka_topic_name(message.rkt)));
  } else if (IsDenied(message.err)) {
    NoteDenied(message.err, WriteTo(rd_kafka_topic_name(message.rkt)));
  }
  options_.on_delivery(message);
}

Status Producer::Health() const {
  if (!is_open()) return Fail(Code::kRefused, "kafka producer: being opened again");
  char text[512];
  const auto fatal = rd_kafka_fatal_error(client_.get(), text, sizeof text);
  if (fatal == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  if (IsDenied(fatal)) return FailWith(fatal, "kafka producer", {});
  return Fail(Code::kRefused, std::string("kafka producer: ") + text);
}

Delivery Producer::OutcomeOf(const rd_kafka_message_t& message) {
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) return Delivery::kAcknowledged;
  if (message.err != RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) return Delivery::kFailed;
  if (message.len + message.key_len + kFramingBytes >= batch_bytes_ || batch_bytes_ <= kBatchBytesMin)
    return Delivery::kTooLarge;
  batch_too_large_ = true;
  return Delivery::kFailed;
}

void Producer::BeginClosing(std::string_view why) {
  if (MayLog(options_.name + " reopened")) {
    log::Warning(options_.name + " reopened; what it holds is sent again", {{"reason", why}});
  }
  closing_ = true;
  purge_at_ = {};
}

milliseconds Producer::Step() {
  Poll(options_.poll_wait);
  if (batch_too_large_ || !Health()) {
    const std::unique_lock lock(mutex_);
    KeepOpen();
  }
  if (options_.after_poll) options_.after_poll();
  return is_open() ? milliseconds(0) : options_.poll_wait;
}

void Producer::KeepOpen() {
  if (is_open()) {
    if (batch_too_large_) {
      BeginClosing("a topic accepts only smaller batches: the producer sends such batches from now on");
    } else if (const Status health = Health(); !health) {
      BeginClosing(health.error().message);
    } else {
      return;
    }
  }
  const auto now = SteadyClock::now();
  if (client_) {
    if (now >= purge_at_) {
      purge_at_ = now + kPurgeAgainAfter;
      rd_kafka_purge(client_.get(), kPurgeAll | RD_KAFKA_PURGE_F_NON_BLOCKING);
      rd_kafka_poll(client_.get(), 0);
    }
    if (rd_kafka_outq_len(client_.get()) > 0) return;
    topics_.clear();
    first_topic_ = nullptr;
    client_.reset();
  }
  if (now < open_at_) return;
  if (batch_too_large_.exchange(false)) batch_bytes_ = std::max(kBatchBytesMin, batch_bytes_ / 2);
  if (const Status opened = OpenClient(); opened) {
    closing_ = false;
  } else if (MayLog(options_.name + " closed")) {
    log::Error(options_.name + " can't be opened again", {{"error", opened.error().message}});
  }
}

}  // namespace seen::kafka
