#pragma once
// The consumer's state and which lock owns what. Internal to this room.
//
// Every message leaves librdkafka's queue under its worker's mutex. So the control thread, holding all
// workers' mutexes, sees no message in flight between the queue and a handler, and can change assignment and
// positions at once.

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "base/repeating_thread.h"
#include "kafka/consumer.h"
#include "kafka/log_check.h"
#include "kafka/rdkafka_handles.h"
#include "kafka/replay_probe.h"

namespace seen {

/// Guarded by its worker's mutex.
struct ConsumedPartition {
  bool assigned = false;      // and read
  bool out_of_range = false;  // told or to be told; dropped until Seek
  bool notice_due = false;    // OnOffsetOutOfRange hasn't been called yet
  bool seeking = false;       // Seek was called; dropped until the control thread has applied it
  bool heard = false;         // something has arrived since the assignment: its queue is forwarded
  int64_t next_offset = 0;    // of the next record to deliver
  uint64_t epoch = 0;         // counts assignments and seeks
  // Whether the log is still the one that was read is doubtful after an outage, an error of the partition, or
  // another leader epoch. Reading then goes back to the last record delivered and compares it.
  Anchor last;
  Anchor sample;              // `last` as it was a while ago, for WatchLog
  bool checking = false;      // reading goes back to `last`
  bool replaced = false;      // OnLogReplaced is due, not OnOffsetOutOfRange
  uint64_t outages_seen = 0;  // of Impl::outages
  int32_t leader_epoch = -1;  // of the records; -1: not known
  kafka::QueueHandle queue;   // librdkafka's for this partition, forwarded to the worker's

  // Of the poll under way.
  std::vector<Record> records;
  kafka::ReplayProbe replays;
  int64_t end_offset = -1;
  uint64_t batch_epoch = 0;
  bool in_batch = false;
};

struct ConsumerWorker {
  explicit ConsumerWorker(size_t i) : index(i) {}
  const size_t index;
  // Recursive: a handler, which runs under it, may call Seek. Not a seen::Mutex: the control thread holds
  // those of all workers at once, which the analysis can't follow.
  std::recursive_mutex mutex;
  kafka::QueueHandle queue;                   // set once
  std::vector<ConsumedPartition> partitions;  // index: partition / workers; mutex
  std::vector<rd_kafka_message_t*> messages;  // mutex
  std::vector<int32_t> batch;                 // partitions of the poll under way; mutex
  size_t notices_due = 0;                     // mutex
  Instant polled_at{};                        // mutex; the end of the last poll
  std::atomic<bool> behind{false};            // the last poll was full: there may be more
  std::atomic<bool> drained{false};           // much was taken since WakeFetchers looked

  Mutex wake_mutex;  // innermost: librdkafka signals under its queue's lock
  ConditionVariable wake;
  bool awake GUARDED_BY(wake_mutex) = false;
};

struct Consumer::Impl {
  using SteadyClock = std::chrono::steady_clock;

  Impl(Options given, RebalanceHandler& handler) : options(std::move(given)), rebalance(handler) {}

  // consumer.cc
  Status Start();
  void Close();
  Result<kafka::ClientHandle> MakeConsumer();
  /// Gives up the client and everything assigned, and joins the group with another one.
  Status BeginAnew();
  void Take(kafka::ClientHandle made);
  void Leave();
  void DropQueues();  // all workers' mutexes are held
  std::shared_ptr<rd_kafka_t> Client() const {
    const MutexLock lock(client_mutex);
    return client;
  }
  Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const;
  ConsumerWorker& WorkerFor(int32_t partition) { return *workers[WorkerOf(partition)]; }
  size_t WorkerOf(int32_t partition) const { return static_cast<size_t>(partition) % workers.size(); }
  /// The partition's worker's mutex is held. nullptr: never assigned.
  ConsumedPartition* Find(int32_t partition);
  void Answered();  // some broker answered
  void Read();      // a broker let it read the topic
  kafka::Access access() const { return {.topic = options.topic, .group = options.group_id}; }
  /// What keeps the consumer from reading: shown by last_problem, logged with back-off.
  void NoteError(rd_kafka_resp_err_t error, const std::string& text);
  void NoteProblem(const std::string& name, const std::string& text);

  // consumer_control.cc; the control thread
  Status PollControl(std::chrono::milliseconds timeout);
  void OnRebalance(rd_kafka_resp_err_t kind, const rd_kafka_topic_partition_list_t* partitions);
  void OpenPending();
  /// Asks for the start offset (nullopt: not read); false: not now.
  bool OpenPartition(int32_t partition, int32_t partition_count,
                     const rd_kafka_topic_partition_list_t* committed, std::chrono::milliseconds timeout,
                     std::optional<int64_t>& start_offset);
  void Allowed();
  void Revoke(std::span<const int32_t> partitions, bool lost);
  void Commit(const std::map<int32_t, int64_t>& offsets);
  void OnCommitted(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t* offsets, Instant sent);
  void RevokeAll();  // what librdkafka didn't revoke was lost
  /// Hands librdkafka the assignment as it is in `workers`, every partition from its next_offset.
  void ApplyAssignment();
  /// Whether being fenced may be this member's own doing, so that it joins again.
  bool MayJoinAgain();
  void ForwardUnheard();
  void WakeFetchers();
  void ProbeBrokers();

  // consumer_owners.cc
  /// A thread of its own: asks what the group's members own. Returns when to ask again.
  std::chrono::milliseconds AskForOwners();
  /// The control thread: finds partitions without an owner, and makes the group assign them.
  void WatchOwners();
  /// The control thread: joins the group anew where a topic that was away is back.
  void AwaitTopic();
  Status Subscribe();

  std::vector<std::unique_lock<std::recursive_mutex>> LockWorkers();

  // consumer_log_watch.cc; a thread of its own
  struct LogQuestion {
    Anchor sample;  // to be compared
    Anchor last;    // the next sample
  };
  struct LogWatch {
    std::set<int32_t> shorter;                // partitions whose log ended before the sample, last time
    std::map<int32_t, int64_t> next_offsets;  // last time
  };
  /// Reads samples again, and makes notices due. Returns when to do so again.
  std::chrono::milliseconds WatchLog(LogWatch& watch);
  std::map<int32_t, LogQuestion> MakeQuestions();
  /// True: the log seems too short; ask again soon.
  bool NoteFinding(int32_t partition, const LogQuestion& asked, const kafka::LogFinding& finding,
                   LogWatch& watch);

  // consumer_worker.cc
  size_t PollWorker(ConsumerWorker& worker, std::chrono::milliseconds timeout, WorkerHandler& handler);
  void Sort(ConsumerWorker& worker, const rd_kafka_message_t& message);
  /// True: the message is dealt with.
  bool CheckLast(ConsumerWorker& worker, ConsumedPartition& partition, const rd_kafka_message_t& message);
  bool Doubts(ConsumedPartition& partition, const rd_kafka_message_t& message) const;
  void DeliverNotices(ConsumerWorker& worker, WorkerHandler& handler);

  const Options options;
  RebalanceHandler& rebalance;
  size_t drained_records = 0;  // what WakeFetchers takes for much; set once
  size_t drained_bytes = 0;
  std::vector<std::unique_ptr<ConsumerWorker>> workers;
  kafka::QueueHandle commits;  // answers to commits; goes before the client
  // Changed by the control thread. Destroyed before the workers, whose queues go first.
  mutable Mutex client_mutex;
  std::shared_ptr<rd_kafka_t> client GUARDED_BY(client_mutex);

  RepeatingThread log_watch;     // WatchLog; stopped before the client goes
  RepeatingThread owners_watch;  // AskForOwners; likewise

  std::atomic<bool> reassign{false};  // a Seek or a lost message: ApplyAssignment is due
  std::atomic<bool> reachable{false};
  std::atomic<bool> topic_away{false};  // librdkafka says so; until partitions are assigned
  std::atomic<bool> doubted{false};     // a connection failed: ProbeBrokers asks whether any is left
  std::atomic<uint64_t> outages{0};     // connections or partitions that failed
  std::atomic<uint64_t> logs_checked{0};
  std::atomic<bool> joined{false};    // the group has assigned something, or nothing
  std::atomic<bool> opening{false};   // `pending` isn't empty, for other threads
  std::atomic<bool> troubled{false};  // `problem` isn't empty
  std::atomic<uint64_t> commits_failed{0};
  std::atomic<uint64_t> records_stale{0};
  mutable Mutex problem_mutex;
  std::string problem GUARDED_BY(problem_mutex);
  std::vector<int32_t> unowned GUARDED_BY(problem_mutex);
  Mutex owned_mutex;
  std::optional<std::set<int32_t>> owned_by_group GUARDED_BY(owned_mutex);  // an answer to be looked at

  // The control thread's own.
  bool closed = false;
  Status failure;             // comes out of PollControl
  std::set<int32_t> pending;  // assigned by the group, OnAssigned hasn't answered yet
  std::set<int32_t> owned;    // assigned by the group, OnAssigning was called
  SteadyClock::time_point pending_next{};
  std::chrono::milliseconds pending_wait{100};
  bool unheard = false;
  bool topic_back = false;  // the brokers had the topic when they were asked last, see AwaitTopic
  SteadyClock::time_point topic_next{};
  std::chrono::milliseconds topic_wait{};
  SteadyClock::time_point unowned_since{};
  SteadyClock::time_point rejoin_next{};
  std::chrono::milliseconds rejoin_wait{5000};
  std::deque<SteadyClock::time_point> fenced_at;  // lately
  SteadyClock::time_point probe_next{};
  int probes_failed = 0;
  SteadyClock::time_point fetchers_woken{};
  SteadyClock::time_point drained_at{};
  SteadyClock::time_point leaders_asked{};
  std::vector<int32_t> partition_by_leader;  // one of ours for each broker
};

}  // namespace seen
