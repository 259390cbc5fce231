#pragma once
// What the parts of a consumer share: its client, whether brokers answer, and what it waits for. Internal to
// this room.

#include <atomic>
#include <chrono>
#include <memory>
#include <string>

#include "base/mutex.h"
#include "kafka/consumer.h"
#include "kafka/rdkafka_handles.h"

namespace seen {

/// Any thread, except for ProbeBrokers: the control thread.
class ConsumerLink {
 public:
  /// How long an answer about the topic or the group is awaited.
  static constexpr std::chrono::milliseconds kQuestion{2000};

  /// From this version on, librdkafka soon looks again at a queue that was full (fetch.queue.backoff.ms).
  static constexpr int kBackoffVersion = 0x020200ff;

  explicit ConsumerLink(Consumer::Options given) : options(std::move(given)) {}

  const Consumer::Options options;

  /// What one worker's queue may hold before librdkafka stops fetching for it. This is half of the budget.
  /// The rest is for responses in flight and responses that are being read.
  struct QueueLimits {
    uint64_t kbytes;
    uint64_t messages;
  };
  QueueLimits queue_limits() const;
  /// A client's configuration. max.poll.interval.ms stays librdkafka's five minutes, unless kafka.client says
  /// otherwise: handlers write the last checkpoints while the group waits. librdkafka refuses an interval
  /// below session.timeout.ms.
  Result<kafka::ConfHandle> MakeConf() const;

  std::shared_ptr<rd_kafka_t> Client() const;
  /// nullptr: the consumer is closed.
  void SetClient(kafka::ClientHandle client);
  kafka::Access access() const { return {.topic = options.topic, .group = options.group_id}; }
  Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const;

  void Answered();  // some broker answered
  void Read();      // a broker allowed it to read the topic
  /// Why the consumer can't read: last_problem shows it, and the log has it with back-off.
  void NoteError(rd_kafka_resp_err_t error, const std::string& text);
  void NoteProblem(const std::string& name, const std::string& text);
  /// Why assigned partitions aren't open yet, likewise. Empty: all are open.
  void NoteOpening(const std::string& reason);
  std::string last_problem() const;

  /// A question got no answer, so ProbeBrokers asks whether any broker is left.
  void Doubt() { doubted_ = true; }
  void NoteOutage() { outages_.fetch_add(1, std::memory_order_relaxed); }
  void ProbeBrokers();

  bool reachable() const { return reachable_; }
  /// Connections or partitions that failed.
  uint64_t outages() const { return outages_.load(std::memory_order_relaxed); }
  std::atomic<bool> topic_away{false};  // librdkafka said so; until partitions are assigned

 private:
  mutable Mutex client_mutex_;
  std::shared_ptr<rd_kafka_t> client_ GUARDED_BY(client_mutex_);
  std::atomic<bool> reachable_{false};
  std::atomic<bool> doubted_{false};
  std::atomic<bool> troubled_{false};  // `problem_` isn't empty
  std::atomic<uint64_t> outages_{0};
  mutable Mutex problem_mutex_;
  std::string problem_ GUARDED_BY(problem_mutex_);
  std::string opening_problem_ GUARDED_BY(problem_mutex_);
  std::chrono::steady_clock::time_point probe_next_{};
  int probes_failed_ = 0;
};

}  // namespace seen
