#pragma once
// A consumer's assigned partitions, their positions, and its workers, which read them. Internal to this room.
//
// Every message leaves librdkafka's queue under its worker's mutex. So while the control thread holds all
// workers' mutexes, no message is between a queue and a handler. Then it can change assignment and positions
// at once.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "base/mutex.h"
#include "kafka/consumer_link.h"
#include "kafka/log_watch.h"
#include "kafka/message_record.h"

namespace seen {

/// Guarded by its worker's mutex.
struct ConsumedPartition {
  bool assigned = false;      // and read
  bool stopped = false;       // assigned, and not read until Seek
  bool out_of_range = false;  // notice given or due; records are dropped until Seek
  bool notice_due = false;    // OnOffsetOutOfRange hasn't been called yet
  bool seeking = false;       // Seek was called; dropped until the control thread applies it
  bool heard = false;         // something has arrived since the assignment: its queue is forwarded
  int64_t next_offset = 0;    // of the next record to deliver
  uint64_t epoch = 0;         // counts assignments and seeks
  LogMemory log;              // `replaced`: OnLogReplaced is due instead of OnOffsetOutOfRange
  kafka::QueueHandle queue;   // librdkafka's for this partition, forwarded to the worker's

  // Of the current poll.
  std::vector<Record> records;
  kafka::ReplayProbe replays;
  int64_t end_offset = -1;
  uint64_t batch_epoch = 0;
  bool in_batch = false;
};

struct ConsumerWorker {
  explicit ConsumerWorker(size_t i) : index(i) {}
  const size_t index;
  // Recursive: a handler runs under it, and may call Seek. Not a seen::Mutex: the control thread holds the
  // mutexes of all workers at once, and the analysis can't follow that.
  std::recursive_mutex mutex;
  kafka::QueueHandle queue;                   // set once a client
  std::vector<ConsumedPartition> partitions;  // index: partition / workers; mutex
  std::vector<rd_kafka_message_t*> messages;  // mutex
  std::vector<int32_t> batch;                 // partitions of the current poll; mutex
  size_t notices_due = 0;                     // mutex
  Instant polled_at{};                        // mutex; the end of the last poll
  std::atomic<bool> behind{false};            // the last poll was full: there may be more
  std::atomic<bool> drained{false};           // much was taken since the last WakeFetchers

  Mutex wake_mutex;  // innermost: librdkafka signals under its queue's lock
  ConditionVariable wake;
  bool awake GUARDED_BY(wake_mutex) = false;
};

class RecordFetcher {
 public:
  static constexpr std::chrono::milliseconds kWakeInterval{10};  // see WakeFetchers
  using WorkerLocks = std::vector<std::unique_lock<std::recursive_mutex>>;

  explicit RecordFetcher(ConsumerLink& link);

  // The control thread.
  WorkerLocks LockWorkers();
  /// The caller holds all workers' mutexes, unless no worker runs yet.
  void OpenQueues(rd_kafka_t* client);
  void DropQueues();  // likewise
  void Begin(int32_t partition, int64_t start_offset, const Anchor& last_read);
  void End(std::span<const int32_t> partitions);
  /// Gives librdkafka the assignment, each partition from its next_offset.
  void Assign();
  void ForgetLeaders() { leaders_asked_ = {}; }
  /// What the control thread has to do again and again. PollControl must not wait long while `hurries`.
  void Tend();
  bool hurries() const;

  // A worker, and any thread.
  size_t PollWorker(size_t worker, std::chrono::milliseconds timeout, WorkerHandler& handler);
  Status Seek(int32_t partition, int64_t offset);
  void StopReading(int32_t partition);
  size_t WorkerOf(int32_t partition) const { return static_cast<size_t>(partition) % workers_.size(); }
  ConsumerWorker& WorkerFor(int32_t partition) { return *workers_[WorkerOf(partition)]; }
  /// The caller holds the mutex of the partition's worker. nullptr: never assigned.
  ConsumedPartition* Find(int32_t partition);
  /// Visits each partition under its worker's mutex.
  template <typename Visit>
  void ForEach(const Visit& visit) {
    for (auto& worker : workers_) {
      const std::lock_guard lock(worker->mutex);
      for (size_t i = 0; i < worker->partitions.size(); ++i)
        visit(static_cast<int32_t>(i * workers_.size() + worker->index), worker->partitions[i]);
    }
  }
  /// A position has changed, or a message was lost: Assign is due.
  void RequestAssign() { reassign_ = true; }
  void CountChecked() { logs_checked_.fetch_add(1, std::memory_order_relaxed); }
  uint64_t logs_checked_total() const { return logs_checked_; }
  uint64_t records_stale_total() const { return records_stale_; }

 private:
  /// The caller holds the worker's mutex. False: the partition isn't read.
  bool EndReading(int32_t partition);
  void Sort(ConsumerWorker& worker, const rd_kafka_message_t& message);
  /// True: the message needs nothing more.
  bool CheckLast(ConsumerWorker& worker, ConsumedPartition& partition, const rd_kafka_message_t& message);
  void DeliverNotices(ConsumerWorker& worker, WorkerHandler& handler);
  void ForwardUnheard();
  void WakeFetchers();

  ConsumerLink& link_;
  std::vector<std::unique_ptr<ConsumerWorker>> workers_;
  size_t drained_records_ = 0;  // what WakeFetchers counts as much
  size_t drained_bytes_ = 0;
  std::atomic<bool> reassign_{false};
  std::atomic<uint64_t> records_stale_{0};
  std::atomic<uint64_t> logs_checked_{0};
  // The control thread's own.
  bool unheard_ = false;
  std::chrono::steady_clock::time_point fetchers_woken_{};
  std::chrono::steady_clock::time_point drained_at_{};
  std::chrono::steady_clock::time_point leaders_asked_{};
  std::map<int32_t, int32_t> partition_by_leader_;  // for each leader one partition of the topic
};

}  // namespace seen
