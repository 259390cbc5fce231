#include "kafka/dead_letter_producer.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <map>
#include <thread>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "kafka/producing.h"
#include "kafka/topic_config.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRetryAfter{1000};
constexpr milliseconds kAskAfter{10'000};       // for the topic's limit, while it isn't known
constexpr milliseconds kAskAgainAfter{60'000};  // the limit may have been raised
constexpr int kAloneMs = 500;                   // for a letter to go out in its own batch
constexpr size_t kBatchOverheadBytes = 512;     // record batch and record headers, varints
constexpr size_t kHeadersBytesMax = 1024;       // ours: short ones and a topic name of at most 249 bytes
constexpr size_t kOverhead = kBatchOverheadBytes + kHeadersBytesMax;

/// One letter, from TrySend to its acknowledgement. Its content is kept only if it must be sent again.
struct Letter {
  int32_t partition = 0;
  int64_t offset = 0;
  uint64_t life = 0;  // which of the partition's counts it belongs to, see Forget
  int64_t timestamp = 0;
  size_t key_bytes = 0;  // of the record
  size_t value_bytes = 0;
  int refused = 0;  // how often the topic refused it as too large
};

struct Retry {
  std::unique_ptr<Letter> letter;
  std::string key, value;
  bool key_is_null = false, value_is_null = false;
  kafka::HeadersHandle headers;
  bool too_large = false;
};

/// How much is kept of a key and a value in `bytes_max`. The value is cut first, because the key says whose
/// it is. But at the value's cost the key keeps a quarter at most.
struct Kept {
  size_t key = 0;
  size_t value = 0;
};
Kept KeptOf(size_t key, size_t value, size_t bytes_max) {
  if (key + value <= bytes_max) return {key, value};
  Kept kept;
  kept.key = std::min(key, std::max(bytes_max / 4, bytes_max - std::min(value, bytes_max)));
  kept.value = std::min(value, bytes_max - kept.key);
  return kept;
}

void SetHeader(rd_kafka_headers_t* headers, const char* name, std::string_view text) {
  rd_kafka_header_remove(headers, name);
  rd_kafka_header_add(headers, name, -1, text.data(), static_cast<ssize_t>(text.size()));
}

void SetTruncated(rd_kafka_headers_t* headers, const Letter& letter, size_t key, size_t value) {
  if (value < letter.value_bytes) SetHeader(headers, "truncated", std::to_string(letter.value_bytes));
  if (key < letter.key_bytes) SetHeader(headers, "truncated-key", std::to_string(letter.key_bytes));
}

struct Outstanding {
  uint64_t life = 0;
  std::map<int64_t, uint32_t> offsets;  // source offset -> letters; begin() is the oldest
};

}  // namespace

struct DeadLetterProducer::Impl {
  Options options;
  kafka::ClientHandle client;
  kafka::TopicHandle topic;
  std::atomic<size_t> content_bytes_max{0};  // key and value
  std::atomic<uint64_t> outstanding{0};
  std::atomic<uint64_t> retries{0};
  std::atomic<bool> stopping{false};

  mutable Mutex mutex;
  std::map<int32_t, Outstanding> partitions GUARDED_BY(mutex);
  std::deque<Retry> retry;  // the poll thread's own
  std::chrono::steady_clock::time_point retry_at{};
  std::chrono::steady_clock::time_point ask_at{};
  std::thread poll;  // runs delivery reports and retries; joined first

  bool Produce(Letter* letter, const void* key, size_t key_bytes, const void* value, size_t value_bytes,
               rd_kafka_headers_t* headers) const;
  void Acknowledge(const Letter& letter);
  void OnDelivery(const rd_kafka_message_t& message);
  void AskLimit();
  /// Shortens a letter that the topic refused. False: nothing is left to cut.
  bool Cut(Retry& again);
  void SendAgain();
  void Run();
};

// Takes letter and headers if it returns true. If it returns false, the caller tries again, and doesn't look
// at rd_kafka_last_error.
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
  if (kafka::IsDenied(error)) kafka::NoteDenied(error, kafka::WriteTo(options.topic));
  return error == RD_KAFKA_RESP_ERR_NO_ERROR;
}

void DeadLetterProducer::Impl::Acknowledge(const Letter& letter) {
  const MutexLock lock(mutex);
  outstanding.fetch_sub(1);
  auto& partition = partitions[letter.partition];
  if (partition.life != letter.life) return;  // forgotten meanwhile
  const auto found = partition.offsets.find(letter.offset);
  if (found != partition.offsets.end() && --found->second == 0) partition.offsets.erase(found);
}

void DeadLetterProducer::Impl::OnDelivery(const rd_kafka_message_t& message) {
  std::unique_ptr<Letter> letter(static_cast<Letter*>(message._private));
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) kafka::NoteAllowed(kafka::WriteTo(options.topic));
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || stopping) {
    Acknowledge(*letter);
    return;
  }
  if (kafka::MayLog("dead letter not delivered")) {
    log::Warning(
        "dead letter not delivered, will be sent again",
        {{"topic", options.topic}, {"error", rd_kafka_err2str(message.err)}, {"bytes", message.len}});
  }
  if (kafka::IsDenied(message.err)) kafka::NoteDenied(message.err, kafka::WriteTo(options.topic));
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
  again.too_large = message.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
  if (again.too_large) ask_at = {};
  again.letter = std::move(letter);
  // The first letter that waits sets the time. Letters that are refused later don't delay it.
  if (retry.empty()) retry_at = std::chrono::steady_clock::now() + kRetryAfter;
  retry.push_back(std::move(again));
}

bool DeadLetterProducer::Impl::Cut(Retry& again) {
  Letter& letter = *again.letter;
  const size_t bytes = again.key.size() + again.value.size();
  if (bytes == 0) return false;
  size_t limit = content_bytes_max;
  // The letter isn't longer than the topic's stated limit, and is refused. The first time, others in its
  // batch may be the cause. The second time, they can't be.
  if (bytes <= limit && ++letter.refused > 1) content_bytes_max = limit = bytes / 2;
  const Kept kept = KeptOf(again.key.size(), again.value.size(), limit);
  again.key.resize(kept.key);
  again.value.resize(kept.value);
  SetTruncated(again.headers.get(), letter, kept.key, kept.value);
  return true;
}

void DeadLetterProducer::Impl::SendAgain() {
  if (retry.empty() || std::chrono::steady_clock::now() < retry_at) return;
  while (!retry.empty()) {
    auto& again = retry.front();
    if (again.too_large && !Cut(again)) {
      if (options.reporter != nullptr) options.reporter->DeadLetterDropped();
      if (kafka::MayLog("dead letter dropped")) {
        log::Error("dead letter dropped: its headers alone are too large for the topic",
                   {{"topic", options.topic},
                    {"source_partition", again.letter->partition},
                    {"source_offset", again.letter->offset},
                    {"remedy", "raise the topic's max.message.bytes"}});
      }
      Acknowledge(*again.letter);
      retry.pop_front();
      continue;
    }
    const bool alone = std::exchange(again.too_large, false);
    if (!Produce(again.letter.get(), again.key_is_null ? nullptr : again.key.data(), again.key.size(),
                 again.value_is_null ? nullptr : again.value.data(), again.value.size(),
                 again.headers.get())) {
      break;
    }
    (void)again.letter.release();
    (void)again.headers.release();
    retries.fetch_add(1);
    retry.pop_front();
    if (alone) rd_kafka_flush(client.get(), kAloneMs);
  }
  retry_at = std::chrono::steady_clock::now() + kRetryAfter;
}

void DeadLetterProducer::Impl::AskLimit() {
  const auto now = std::chrono::steady_clock::now();
  if (outstanding == 0 || now < ask_at) return;
  ask_at = now + kAskAfter;
  auto limit = kafka::DescribeTopicConfig(client.get(), options.topic, "max.message.bytes",
                                          milliseconds(1000), AclOperation::kWrite);
  if (!limit) return;
  ask_at = now + kAskAgainAfter;
  if (!*limit) return;
  const size_t bytes =
      std::min<size_t>(std::strtoull((*limit)->c_str(), nullptr, 10), options.message_bytes_max);
  content_bytes_max = bytes > kOverhead ? bytes - kOverhead : 0;
}

void DeadLetterProducer::Impl::Run() {
  while (!stopping) {
    rd_kafka_poll(client.get(), 50);
    AskLimit();
    SendAgain();
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
  impl->content_bytes_max = options.message_bytes_max - std::min(options.message_bytes_max, kOverhead);
  auto made = kafka::OpenTopicProducer(
      {options.brokers,
       options.client,
       {options.queue_bytes_max, milliseconds(20)},
       {},
       // An idempotent producer may end in a fatal error. This one must go on for ever, at the cost of a rare
       // duplicate.
       {{"enable.idempotence", "false"},
        {"batch.size", std::to_string(std::clamp<size_t>(options.message_bytes_max, 1024, 1'000'000))},
        {"message.max.bytes", std::to_string(std::max<size_t>(options.message_bytes_max, 1000) + kOverhead)}},
       impl.get(),
       [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
         static_cast<Impl*>(opaque)->OnDelivery(*message);
       }},
      options.topic, Partitioner::kMurmur2);
  if (!made) return Fail(std::move(made.error()));
  impl->client = std::move(made->client);
  impl->topic = std::move(made->topic);
  impl->poll = std::thread([raw = impl.get()] { raw->Run(); });
  return std::unique_ptr<DeadLetterProducer>(new DeadLetterProducer(std::move(impl)));
}

bool DeadLetterProducer::TrySend(const DeadLetter& letter) {
  const auto& record = *letter.record;
  auto state = std::make_unique<Letter>();
  state->partition = letter.partition;
  state->offset = record.offset;
  state->timestamp = std::max<int64_t>(record.timestamp.value, 0);
  state->key_bytes = record.key.size();
  state->value_bytes = record.value.size();
  const Kept kept = KeptOf(record.key.size(), record.value.size(), impl_->content_bytes_max);
  const auto key = record.key.substr(0, kept.key);
  const auto value = record.value.substr(0, kept.value);

  kafka::HeadersHandle headers(rd_kafka_headers_new(7));
  const auto set = [&](const char* name, std::string_view text) { SetHeader(headers.get(), name, text); };
  set("reason", RejectReasonName(letter.rejection.reason));
  // Never empty: readers take an empty header for a missing one.
  set("field", letter.rejection.field.empty() ? "value" : letter.rejection.field);
  set("source-topic", impl_->options.source_topic);
  set("source-partition", std::to_string(letter.partition));
  set("source-offset", std::to_string(record.offset));
  SetTruncated(headers.get(), *state, key.size(), value.size());
  {
    // Counted before it is sent: its acknowledgement may come at once.
    const MutexLock lock(impl_->mutex);
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
  (void)headers.release();  // librdkafka owns them now
  return true;
}

int64_t DeadLetterProducer::OldestUnacknowledged(int32_t partition) const {
  const MutexLock lock(impl_->mutex);
  const auto found = impl_->partitions.find(partition);
  if (found == impl_->partitions.end() || found->second.offsets.empty()) return -1;
  return found->second.offsets.begin()->first;
}

void DeadLetterProducer::Forget(int32_t partition) {
  const MutexLock lock(impl_->mutex);
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
