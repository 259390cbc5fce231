#include "kafka/dead_letter_producer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>

#include "base/log.h"
#include "kafka/producing.h"
#include "kafka/topic_config.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRetryAfter{1000};
constexpr size_t kBatchOverheadBytes = 512;  // record batch and record headers, varints
constexpr size_t kHeadersBytesMax = 1024;    // ours: five short ones and a topic name of at most 249 bytes
constexpr size_t kMessageBytesMin = 4096;

/// One letter, from TrySend to its acknowledgement. Kept whole only if it has to be sent again.
struct Letter {
  int32_t partition = 0;
  int64_t offset = 0;
  uint64_t life = 0;  // of the partition's bookkeeping, see Forget
  int64_t timestamp = 0;
  size_t original_bytes = 0;
  size_t value_bytes_max = 0;
};

struct Retry {
  std::unique_ptr<Letter> letter;
  std::string key, value;
  bool key_is_null = false, value_is_null = false;
  kafka::HeadersHandle headers;
};

struct Outstanding {
  uint64_t life = 0;
  std::map<int64_t, uint32_t> offsets;  // source offset -> letters; begin() is the oldest
};

}  // namespace

struct DeadLetterProducer::Impl {
  Options options;
  kafka::ClientHandle client;
  kafka::TopicHandle topic;
  std::atomic<size_t> message_bytes_max{0};
  std::atomic<uint64_t> outstanding{0};
  std::atomic<uint64_t> retries{0};
  std::atomic<bool> stopping{false};

  mutable std::mutex mutex;
  std::map<int32_t, Outstanding> partitions;  // mutex
  std::deque<Retry> retry;                    // the poll thread's own
  std::chrono::steady_clock::time_point retry_at{};
  std::thread poll;  // runs delivery reports and retries; joined first

  bool Produce(Letter* letter, const void* key, size_t key_bytes, const void* value, size_t value_bytes,
               rd_kafka_headers_t* headers) const;
  void Acknowledge(const Letter& letter);
  void OnDelivery(const rd_kafka_message_t& message);
  void SendAgain();
  void Run();
};

// Takes letter and headers if it returns true. On false rd_kafka_last_error isn't looked at: the caller tries
// again.
bool DeadLetterProducer::Impl::Produce(Letter* letter, const void* key, size_t key_bytes, const void* value,
                                       size_t value_bytes, rd_kafka_headers_t* headers) const {
  const auto error = rd_kafka_producev(
      client.get(), RD_KAFKA_V_RKT(topic.get()), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key, key_bytes),
      RD_KAFKA_V_VALUE(const_cast<void*>(value), value_bytes), RD_KAFKA_V_TIMESTAMP(letter->timestamp),
      RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(letter), RD_KAFKA_V_END);
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR && error != RD_KAFKA_RESP_ERR__QUEUE_FULL &&
      kafka::MayLog("dead letter refused")) {
    log::Warning("dead letter refused, will be sent again", {{"error", rd_kafka_err2str(error)}});
  }
  return error == RD_KAFKA_RESP_ERR_NO_ERROR;
}

void DeadLetterProducer::Impl::Acknowledge(const Letter& letter) {
  const std::lock_guard lock(mutex);
  outstanding.fetch_sub(1);
  auto& partition = partitions[letter.partition];
  if (partition.life != letter.life) return;  // forgotten meanwhile
  const auto found = partition.offsets.find(letter.offset);
  if (found != partition.offsets.end() && --found->second == 0) partition.offsets.erase(found);
}

void DeadLetterProducer::Impl::OnDelivery(const rd_kafka_message_t& message) {
  std::unique_ptr<Letter> letter(static_cast<Letter*>(message._private));
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || stopping) {
    Acknowledge(*letter);
    return;
  }
  if (kafka::MayLog("dead letter not delivered")) {
    log::Warning(
        "dead letter not delivered, will be sent again",
        {{"topic", options.topic}, {"error", rd_kafka_err2str(message.err)}, {"bytes", message.len}});
  }
  Retry again;
  again.key_is_null = message.key == nullptr;
  again.value_is_null = message.payload == nullptr;
  if (!again.key_is_null) again.key.assign(static_cast<const char*>(message.key), message.key_len);
  if (!again.value_is_null) again.value.assign(static_cast<const char*>(message.payload), message.len);
  rd_kafka_headers_t* headers = nullptr;
  if (rd_kafka_message_headers(&message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR && headers != nullptr) {
    again.headers.reset(rd_kafka_headers_copy(headers));
  } else {
    again.headers.reset(rd_kafka_headers_new(1));
  }
  if (message.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
    // The topic takes less than was known: cut, for this one and the next.
    const size_t halved = std::max(again.value.size() / 2, size_t{0});
    if (!again.value_is_null) again.value.resize(halved);
    message_bytes_max =
        std::max(kMessageBytesMin, std::min(message_bytes_max.load(), halved + kHeadersBytesMax));
    rd_kafka_header_remove(again.headers.get(), "truncated");
    const std::string original = std::to_string(letter->original_bytes);
    rd_kafka_header_add(again.headers.get(), "truncated", -1, original.data(),
                        static_cast<ssize_t>(original.size()));
  }
  again.letter = std::move(letter);
  retry.push_back(std::move(again));
  retry_at = std::chrono::steady_clock::now() + kRetryAfter;
}

void DeadLetterProducer::Impl::SendAgain() {
  if (retry.empty() || std::chrono::steady_clock::now() < retry_at) return;
  while (!retry.empty()) {
    auto& again = retry.front();
    if (!Produce(again.letter.get(), again.key_is_null ? nullptr : again.key.data(), again.key.size(),
                 again.value_is_null ? nullptr : again.value.data(), again.value.size(),
                 again.headers.get())) {
      break;
    }
    (void)again.letter.release();
    (void)again.headers.release();
    retries.fetch_add(1);
    retry.pop_front();
  }
  retry_at = std::chrono::steady_clock::now() + kRetryAfter;
}

void DeadLetterProducer::Impl::Run() {
  bool limit_known = false;
  auto ask_at = std::chrono::steady_clock::now();
  while (!stopping) {
    rd_kafka_poll(client.get(), 50);
    SendAgain();
    if (limit_known || outstanding == 0 || std::chrono::steady_clock::now() < ask_at) continue;
    ask_at = std::chrono::steady_clock::now() + milliseconds(10'000);
    auto limit =
        kafka::DescribeTopicConfig(client.get(), options.topic, "max.message.bytes", milliseconds(1000));
    if (!limit) continue;
    limit_known = true;
    const auto bytes = *limit ? std::strtoull((*limit)->c_str(), nullptr, 10) : 0;
    if (bytes > 0) message_bytes_max = std::clamp<size_t>(bytes, kMessageBytesMin, options.message_bytes_max);
  }
}

DeadLetterProducer::DeadLetterProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

DeadLetterProducer::~DeadLetterProducer() {
  impl_->stopping = true;
  if (impl_->poll.joinable()) impl_->poll.join();
  rd_kafka_purge(impl_->client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(impl_->client.get(), 200);
}

Result<std::unique_ptr<DeadLetterProducer>> DeadLetterProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->message_bytes_max = options.message_bytes_max;
  auto client = kafka::OpenProducer(
      {options.brokers,
       options.client,
       {options.queue_bytes_max, milliseconds(20)},
       {},
       // An idempotent producer may end in a fatal error; this one must go on for ever, at the price of a
       // rare double.
       {{"enable.idempotence", "false"},
        {"message.max.bytes", std::to_string(options.message_bytes_max + kHeadersBytesMax)}},
       impl.get(),
       [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
         static_cast<Impl*>(opaque)->OnDelivery(*message);
       }});
  if (!client) return Fail(std::move(client.error()));
  impl->client = std::move(*client);
  auto topic = kafka::MakeTopic(impl->client.get(), options.topic, Partitioner::kMurmur2);
  if (!topic) return Fail(std::move(topic.error()));
  impl->topic = std::move(*topic);
  impl->poll = std::thread([raw = impl.get()] { raw->Run(); });
  return std::unique_ptr<DeadLetterProducer>(new DeadLetterProducer(std::move(impl)));
}

bool DeadLetterProducer::TrySend(const DeadLetter& letter) {
  const auto& record = *letter.record;
  auto state = std::make_unique<Letter>();
  state->partition = letter.partition;
  state->offset = record.offset;
  state->timestamp = std::max<int64_t>(record.timestamp.value, 0);
  state->original_bytes = record.value.size();

  const size_t limit = impl_->message_bytes_max;
  const size_t overhead = kBatchOverheadBytes + kHeadersBytesMax;
  const auto key = record.key.substr(0, std::min(record.key.size(), limit / 4));
  const size_t room = limit > overhead + key.size() ? limit - overhead - key.size() : 0;
  const auto value = record.value.substr(0, std::min(record.value.size(), room));

  kafka::HeadersHandle headers(rd_kafka_headers_new(6));
  const auto add = [&](const char* name, std::string_view text) {
    rd_kafka_header_add(headers.get(), name, -1, text.data(), static_cast<ssize_t>(text.size()));
  };
  add("reason", RejectReasonName(letter.rejection.reason));
  // Never empty: readers take an empty header for a missing one.
  add("field", letter.rejection.field.empty() ? "value" : letter.rejection.field);
  add("source-topic", impl_->options.source_topic);
  add("source-partition", std::to_string(letter.partition));
  add("source-offset", std::to_string(record.offset));
  if (value.size() < record.value.size()) add("truncated", std::to_string(record.value.size()));
  {
    // Before it is sent: its acknowledgement may come at once.
    const std::lock_guard lock(impl_->mutex);
    auto& partition = impl_->partitions[letter.partition];
    state->life = partition.life;
    ++partition.offsets[record.offset];
    impl_->outstanding.fetch_add(1);
  }
  if (!impl_->Produce(state.get(), record.key.data(), key.size(),
                      record.value_is_null ? nullptr : value.data(), value.size(), headers.get())) {
    impl_->Acknowledge(*state);
    return false;
  }
  (void)state.release();    // comes back in OnDelivery
  (void)headers.release();  // librdkafka's now
  return true;
}

int64_t DeadLetterProducer::OldestUnacknowledged(int32_t partition) const {
  const std::lock_guard lock(impl_->mutex);
  const auto found = impl_->partitions.find(partition);
  if (found == impl_->partitions.end() || found->second.offsets.empty()) return -1;
  return found->second.offsets.begin()->first;
}

void DeadLetterProducer::Forget(int32_t partition) {
  const std::lock_guard lock(impl_->mutex);
  auto& state = impl_->partitions[partition];
  ++state.life;
  state.offsets.clear();
}

bool DeadLetterProducer::Flush(milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (impl_->outstanding > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));  // the poll thread runs the acknowledgements
  }
  return impl_->outstanding == 0;
}

uint64_t DeadLetterProducer::outstanding() const { return impl_->outstanding; }
uint64_t DeadLetterProducer::retries_total() const { return impl_->retries; }

}  // namespace seen
