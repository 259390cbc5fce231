#include "kafka/dead_letter_producer.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <map>
#include <utility>

#include "base/log.h"
#include "base/mutex.h"
#include "flow/replay_runs.h"
#include "kafka/producer.h"
#include "kafka/topic_reader.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kRetryAfter{1000};
constexpr milliseconds kAskAfter{10'000};       // for the topic's limit, while it isn't known
constexpr milliseconds kAskAgainAfter{60'000};  // the limit may have been raised
constexpr milliseconds kRefusedFor{30'000};     // then letters that the topic refuses are dropped
constexpr milliseconds kAlone{500};             // for a letter to go out in its own batch
constexpr std::string_view kRefusalRemedy =
    "create the topic again, or correct its cleanup.policy (delete) and message.timestamp.*";
constexpr size_t kBatchOverheadBytes = 512;  // record batch and record headers, varints
constexpr size_t kHeadersBytesMax = 1024;    // ours: short ones, a topic name of at most 249 bytes, a message
constexpr size_t kMessageBytesMax = 300;
constexpr size_t kOverhead = kBatchOverheadBytes + kHeadersBytesMax;

/// One letter, from TrySend to its acknowledgement. Its content is kept only if it must be sent again.
struct Letter {
  int32_t partition = 0;
  int64_t offset = 0;
  uint64_t life = 0;  // which of the partition's counts it belongs to, see Forget
  int64_t timestamp = 0;
  size_t key_bytes = 0;  // of the record
  size_t value_bytes = 0;
  int refused = 0;                                        // how often the topic refused it as too large
  std::chrono::steady_clock::time_point refused_since{};  // for another reason
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

/// At most `bytes_max` of `text`, without a part of a character at the end.
std::string_view Beginning(std::string_view text, size_t bytes_max) {
  if (text.size() <= bytes_max) return text;
  while (bytes_max > 0 && (static_cast<unsigned char>(text[bytes_max]) & 0xc0) == 0x80) --bytes_max;
  return text.substr(0, bytes_max);
}

void SetTruncated(rd_kafka_headers_t* headers, const Letter& letter, size_t key, size_t value) {
  if (value < letter.value_bytes) kafka::SetHeader(headers, "truncated", std::to_string(letter.value_bytes));
  if (key < letter.key_bytes) kafka::SetHeader(headers, "truncated-key", std::to_string(letter.key_bytes));
}

struct Outstanding {
  uint64_t life = 0;
  std::map<int64_t, uint32_t> offsets;  // source offset -> letters; begin() is the oldest
};

}  // namespace

struct DeadLetterProducer::Impl {
  explicit Impl(const Options& given) : options(given), producer(ProducerOptions()) {}

  Options options;
  std::atomic<size_t> content_bytes_max{0};  // key and value
  std::atomic<uint64_t> outstanding{0};

  mutable Mutex mutex;
  std::map<int32_t, Outstanding> partitions GUARDED_BY(mutex);
  rd_kafka_resp_err_t refusal GUARDED_BY(mutex) = RD_KAFKA_RESP_ERR_NO_ERROR;  // the last, see IsRefusal
  std::chrono::steady_clock::time_point refused_since GUARDED_BY(mutex){};
  std::deque<Retry> retry;  // the producer's thread's, as the two times
  std::chrono::steady_clock::time_point retry_at{};
  std::chrono::steady_clock::time_point ask_at{};
  kafka::Producer producer;  // its last reports need the fields above

  kafka::Producer::Options ProducerOptions();
  enum class Sent : uint8_t { kQueued, kWait, kDropped };
  Sent Produce(Letter& letter, std::string_view key, std::string_view value, kafka::HeadersHandle& headers);
  void Acknowledge(const Letter& letter);
  /// Notes that the topic refuses a letter. True: it has done so for long, and the letter is to be dropped.
  bool NoteRefusal(Letter& letter, rd_kafka_resp_err_t error);
  void NoteTaken();
  void Drop(const Letter& letter, std::string_view why, std::string_view remedy);
  void OnDelivery(const rd_kafka_message_t& message);
  void AskLimit();
  /// Shortens a letter that the topic refused. False: nothing is left to cut.
  bool Cut(Retry& again);
  void SendAgain();
};

kafka::Producer::Options DeadLetterProducer::Impl::ProducerOptions() {
  const size_t bytes_max = options.message_bytes_max;
  return {.name = "producer of dead letters",
          .brokers = options.brokers,
          .client = options.client,
          .topics = {options.topic},
          .queue_bytes_max = options.queue_bytes_max,
          .linger = milliseconds(20),
          .batch_bytes_max = bytes_max,
          // An idempotent producer may end in a fatal error. This one must go on for ever, at the cost of a
          // rare duplicate.
          .imposed = {{"enable.idempotence", "false"},
                      {"message.max.bytes", std::to_string(bytes_max + kOverhead)}},
          .on_delivery = [this](const rd_kafka_message_t& message) { OnDelivery(message); },
          .thread = "dead-letters",
          .after_poll =
              [this] {
                AskLimit();
                SendAgain();
              }};
}

bool DeadLetterProducer::Impl::NoteRefusal(Letter& letter, rd_kafka_resp_err_t error) {
  const auto now = std::chrono::steady_clock::now();
  const MutexLock lock(mutex);
  if (refusal == RD_KAFKA_RESP_ERR_NO_ERROR) refused_since = now;
  refusal = error;
  // The topic may take other letters meanwhile. One that couldn't be queued is a new letter at each try.
  if (letter.refused_since == decltype(now){}) letter.refused_since = refused_since;
  return now - letter.refused_since >= kRefusedFor;
}

void DeadLetterProducer::Impl::NoteTaken() {
  const MutexLock lock(mutex);
  refusal = RD_KAFKA_RESP_ERR_NO_ERROR;
}

void DeadLetterProducer::Impl::Drop(const Letter& letter, std::string_view why, std::string_view remedy) {
  if (options.reporter != nullptr) options.reporter->DeadLetterDropped();
  if (kafka::MayLog("dead letter dropped")) {
    log::Error("dead letter dropped", {{"reason", why},
                                       {"topic", options.topic},
                                       {"source_partition", letter.partition},
                                       {"source_offset", letter.offset},
                                       {"remedy", remedy}});
  }
  Acknowledge(letter);
}

// Takes letter and headers if it returns kQueued. A letter that is kDropped is acknowledged.
DeadLetterProducer::Impl::Sent DeadLetterProducer::Impl::Produce(Letter& letter, std::string_view key,
                                                                 std::string_view value,
                                                                 kafka::HeadersHandle& headers) {
  const auto error = producer.Produce(
      {.key = key, .value = value, .ticket = &letter, .timestamp_ms = letter.timestamp, .headers = &headers});
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return Sent::kQueued;
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return Sent::kWait;
  if (kafka::MayLog("dead letter refused"))
    log::Warning("dead letter refused, will be sent again", {{"error", rd_kafka_err2str(error)}});
  if (!kafka::IsRefusal(error) || !NoteRefusal(letter, error)) return Sent::kWait;
  Drop(letter, rd_kafka_err2str(error), kRefusalRemedy);
  return Sent::kDropped;
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
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) NoteTaken();
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || producer.stopping()) return Acknowledge(*letter);
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
  again.headers = kafka::CopyHeaders(&message);
  if (!again.headers) again.headers.reset(rd_kafka_headers_new(1));
  again.too_large = message.err == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
  if (again.too_large) ask_at = {};
  if (message.err == RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP && letter->timestamp != 0) {
    // The topic's message.timestamp.* refuse the record's own time: the letter goes with the present time.
    kafka::SetHeader(again.headers.get(), "source-timestamp", std::to_string(letter->timestamp));
    letter->timestamp = 0;
  } else if (kafka::IsRefusal(message.err) && NoteRefusal(*letter, message.err)) {
    return Drop(*letter, rd_kafka_err2str(message.err), kRefusalRemedy);
  }
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
      Drop(*again.letter, "its headers alone are too large for the topic",
           "raise the topic's max.message.bytes");
      retry.pop_front();
      continue;
    }
    const bool alone = std::exchange(again.too_large, false);
    const auto view = [](const std::string& text, bool is_null) {
      return is_null ? std::string_view() : std::string_view(text);
    };
    const Sent sent = Produce(*again.letter, view(again.key, again.key_is_null),
                              view(again.value, again.value_is_null), again.headers);
    if (sent == Sent::kWait) break;
    if (sent == Sent::kQueued) (void)again.letter.release();  // comes back in OnDelivery
    retry.pop_front();
    if (alone) producer.Flush(kAlone);
  }
  retry_at = std::chrono::steady_clock::now() + kRetryAfter;
}

void DeadLetterProducer::Impl::AskLimit() {
  const auto now = std::chrono::steady_clock::now();
  rd_kafka_resp_err_t refused = RD_KAFKA_RESP_ERR_NO_ERROR;
  {
    const MutexLock lock(mutex);
    refused = refusal;
  }
  const bool is_refused = refused != RD_KAFKA_RESP_ERR_NO_ERROR;
  if ((outstanding == 0 && !is_refused) || now < ask_at) return;
  ask_at = now + kAskAfter;
  auto limit = kafka::DescribeTopicConfig(producer.client(), options.topic, "max.message.bytes",
                                          milliseconds(1000), AclOperation::kWrite);
  if (!limit) return;
  // The topic is there. The next letter tells whether it takes letters.
  if (is_refused && (outstanding == 0 || kafka::CodeOf(refused) == Code::kNotFound)) NoteTaken();
  ask_at = now + kAskAgainAfter;
  if (!*limit) return;
  const size_t bytes =
      std::min<size_t>(std::strtoull((*limit)->c_str(), nullptr, 10), options.message_bytes_max);
  content_bytes_max = bytes > kOverhead ? bytes - kOverhead : 0;
}

DeadLetterProducer::DeadLetterProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
DeadLetterProducer::~DeadLetterProducer() = default;

Result<std::unique_ptr<DeadLetterProducer>> DeadLetterProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  impl->content_bytes_max = options.message_bytes_max - std::min(options.message_bytes_max, kOverhead);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
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

  kafka::HeadersHandle headers(rd_kafka_headers_new(8));
  const auto set = [&](const char* name, std::string_view text) {
    kafka::SetHeader(headers.get(), name, text);
  };
  set("reason", RejectReasonName(letter.rejection.reason));
  // Never empty: readers take an empty header for a missing one.
  set("field", letter.rejection.field.empty() ? "value" : letter.rejection.field);
  if (!letter.rejection.message.empty())
    set("message", Beginning(letter.rejection.message, kMessageBytesMax));
  set("source-topic", impl_->options.source_topic);
  set("source-partition", std::to_string(letter.partition));
  set("source-offset", std::to_string(record.offset));
  if (record.event > 0) set("source-element", std::to_string(record.event - 1));
  const auto resent = HeaderOf(record, kResentHeader.data());
  if (resent && !resent->empty()) set("resent", resent->substr(0, kReplayRunBytesMax));
  SetTruncated(headers.get(), *state, key.size(), value.size());
  {
    // Counted before it is sent: its acknowledgement may come at once.
    const MutexLock lock(impl_->mutex);
    auto& partition = impl_->partitions[letter.partition];
    state->life = partition.life;
    ++partition.offsets[record.offset];
    impl_->outstanding.fetch_add(1);
  }
  switch (impl_->Produce(*state, key, record.value_is_null ? std::string_view() : value, headers)) {
    case Impl::Sent::kQueued:
      (void)state.release();  // comes back in OnDelivery
      return true;
    case Impl::Sent::kDropped:
      return true;
    case Impl::Sent::kWait:
      break;
  }
  impl_->Acknowledge(*state);
  return false;
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

std::string DeadLetterProducer::problem() const {
  const MutexLock lock(impl_->mutex);
  if (impl_->refusal == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  return fmt::format(
      "topic \"{}\" (input.dead_letter_topic) takes no letters: {}. A record that can't be decoded holds its "
      "partition for {} s. Then its letter is dropped and counted. Remedy: {}",
      impl_->options.topic, rd_kafka_err2str(impl_->refusal), kRefusedFor.count() / 1000, kRefusalRemedy);
}

bool DeadLetterProducer::Flush(milliseconds timeout) {
  const auto deadline = std::chrono::steady_clock::now() + timeout;
  while (impl_->outstanding > 0 && std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(milliseconds(5));  // the poll thread runs the acknowledgements
  }
  return impl_->outstanding == 0;
}

}  // namespace seen
