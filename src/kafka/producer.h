#pragma once
// The producer behind all adapters of this room: idempotent, acks=all, with a queue bounded in bytes. An
// adapter says what a ticket is, and what becomes of a record that isn't delivered. Internal to this room.
//
// A producer is
// - open: it takes records until its queue is full;
// - closing, after a fatal error, or because a topic takes only smaller batches: it takes nothing, gives up
//   what it holds, and waits until each record has come back. So an older record never follows a newer one;
// - closed: it opens again, at most once a second.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <shared_mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/threads.h"
#include "flow/log_port.h"
#include "kafka/rdkafka_handles.h"
#include "model/partitioner.h"

namespace seen::kafka {

/// The headers of a record that this room's readers delivered. nullptr: it has none.
HeadersHandle CopyHeaders(const rd_kafka_message_t* message);
/// Replaces the headers of this name.
void SetHeader(rd_kafka_headers_t* headers, const std::string& name, std::string_view value);

struct ProducedRecord {
  std::string_view key = {};    // data() is nullptr: a null key, which goes to a random partition
  std::string_view value = {};  // data() is nullptr: a null value
  void* ticket = nullptr;
  int64_t timestamp_ms = 0;  // 0: now
  int32_t partition = RD_KAFKA_PARTITION_UA;
  HeadersHandle* headers = nullptr;  // taken if the record is queued
};

/// Produce and Poll may run on two threads. All other calls exclude each other and these. With a thread of
/// its own: Produce and stopping run on any thread, and `on_delivery` and `after_poll` run on its thread.
class Producer {
 public:
  struct Options {
    std::string name;  // in log lines: "snapshot producer"
    std::string brokers;
    ClientSettings client;
    std::vector<std::string> topics;  // opened with the client; Produce sends to the first one
    Partitioner partitioner = Partitioner::kMurmur2;
    std::map<std::string, int32_t> partitions{};  // that keys map to, by topic; default: all of the topic
    uint64_t queue_bytes_max = 0;
    std::chrono::milliseconds linger{5};
    // The topic's max.message.bytes: a larger batch of one partition would be refused. 0: kafka.client or
    // librdkafka decides.
    size_t batch_bytes_max = 0;
    uint64_t record_bytes_max = 0;  // of the longest record worth trying; as a default; 0: librdkafka decides
    bool imposes_record_bytes = false;  // kafka.client doesn't change record_bytes_max
    ClientSettings defaults{};          // more of them; kafka.client goes before
    ClientSettings imposed{};           // more of them; they go before kafka.client
    /// Runs in Poll, Flush, KeepOpen and the destructor, for each record that Produce took.
    std::function<void(const rd_kafka_message_t&)> on_delivery{};
    std::string thread{};  // the name of its own thread, which polls and keeps it open; empty: the owner does
    std::chrono::milliseconds poll_wait{50};  // of its thread
    std::function<void()> after_poll{};       // on its thread
  };

  explicit Producer(Options options);
  ~Producer() { Drop(); }
  Producer(const Producer&) = delete;
  Producer& operator=(const Producer&) = delete;

  /// Call it first. Connects in the background. kInvalidArgument: settings.
  Status Open();

  /// Copies and queues a record. RD_KAFKA_RESP_ERR__QUEUE_FULL also while the producer isn't open.
  rd_kafka_resp_err_t Produce(const ProducedRecord& record);
  /// As Produce for several records, with the time of the call. Each message has its error afterwards. Its
  /// partition is RD_KAFKA_PARTITION_UA for the key's.
  /// `topic`: of Topic.
  void ProduceBatch(rd_kafka_topic_t* topic, std::vector<rd_kafka_message_t>& messages, size_t from = 0);
  /// Opened by its first use; valid until `opened_total` changes. nullptr: not a topic's name.
  rd_kafka_topic_t* Topic(const std::string& name);

  void Poll(std::chrono::milliseconds wait);
  /// Sends what is queued without waiting for more. False: some records are outstanding after `timeout`.
  bool Flush(std::chrono::milliseconds timeout);

  /// kRefused, kDenied: the producer can't go on, and takes no record until it was opened again.
  Status Health() const;
  bool is_open() const { return client_ && !closing_; }
  /// One step of closing and opening again. Does nothing while the producer is well.
  void KeepOpen();
  uint64_t opened_total() const { return opened_total_; }

  /// What a delivery report says. A broker refuses a batch as a whole. So kTooLarge means that the record
  /// alone is too large. If the batch may have held other records, the report is kFailed, and the producer
  /// opens again with batches half as large.
  Delivery OutcomeOf(const rd_kafka_message_t& message);

  /// Ends its thread, and gives up all that isn't delivered.
  void Drop();
  /// Drop has begun, and its thread has ended or ends.
  bool stopping() const { return thread_.stopping(); }

  rd_kafka_t* client() const { return client_.get(); }

 private:
  Status OpenClient();
  void OnDelivery(const rd_kafka_message_t& message);
  std::chrono::milliseconds Step();
  void BeginClosing(std::string_view why);

  const Options options_;
  size_t batch_bytes_;
  ClientHandle client_;
  std::map<std::string, TopicHandle> topics_;  // destroyed before the client
  rd_kafka_topic_t* first_topic_ = nullptr;
  std::atomic<bool> closing_{false};
  std::atomic<bool> batch_too_large_{false};
  uint64_t opened_total_ = 0;
  std::chrono::steady_clock::time_point purge_at_{};
  std::chrono::steady_clock::time_point open_at_{};
  std::shared_mutex mutex_;  // exclusive while its thread opens the producer again
  RepeatingThread thread_;
};

}  // namespace seen::kafka
