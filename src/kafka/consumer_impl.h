#pragma once
// The consumer's state, and which lock guards what. Internal to this room.
//
// Every message leaves librdkafka's queue under its worker's mutex. So while the control thread holds all
// workers' mutexes, no message is between a queue and a handler. Then it can change assignment and positions
// at once.

#include <atomic>
#include <deque>
#include <mutex>
#include <set>
#include <vector>

#include "base/mutex.h"
#include "base/threads.h"
#include "kafka/consumer.h"
#include "kafka/log_check.h"
#include "kafka/rdkafka_handles.h"
#include "kafka/replay_probe.h"

namespace seen {

/// Guarded by its worker's mutex.
struct ConsumedPartition {
  bool assigned = false;      // and read
  bool out_of_range = false;  // notice given or due; records are dropped until Seek
  bool notice_due = false;    // OnOffsetOutOfRange hasn't been called yet
  bool seeking = false;       // Seek was called; dropped until the control thread applies it
  bool heard = false;         // something has arrived since the assignment: its queue is forwarded
  int64_t next_offset = 0;    // of the next record to deliver
  uint64_t epoch = 0;         // counts assignments and seeks
  // After an outage, an error of the partition, or another leader epoch, the log may not be the one that was
  // read. Then reading goes back to the last record delivered, and compares it.
  Anchor last;
  Anchor sample;              // `last` of some time ago, for WatchLog
  bool checking = false;      // reading goes back to `last`
  bool replaced = false;      // OnLogReplaced is due instead of OnOffsetOutOfRange
  uint64_t outages_seen = 0;  // the value of Impl::outages seen last
  int32_t leader_epoch = -1;  // of the records; -1: not known
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
  kafka::QueueHandle queue;                   // set once
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

struct Consumer::Impl {
  using SteadyClock = std::chrono::steady_clock;

  Impl(Options given, RebalanceHandler& handler) : options(std::move(given)), rebalance(handler) {}

  // consumer.cc
  Status Start();
  void Close();
  Result<kafka::ClientHandle> MakeConsumer();
  /// Gives up the client and all assigned partitions, and joins the group with a new client.
  Status BeginAnew();
  void Take(kafka::ClientHandle made);
  void Leave();
  void DropQueues();  // the caller holds all workers' mutexes
  std::shared_ptr<rd_kafka_t> Client() const {
    const MutexLock lock(client_mutex);
    return client;
  }
  Result<Watermarks> QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const;
  ConsumerWorker& WorkerFor(int32_t partition) { return *workers[WorkerOf(partition)]; }
  size_t WorkerOf(int32_t partition) const { return static_cast<size_t>(partition) % workers.size(); }
  /// The caller holds the mutex of the partition's worker. nullptr: never assigned.
  ConsumedPartition* Find(int32_t partition);
  void Answered();  // some broker answered
  void Read();      // a broker allowed it to read the topic
  kafka::Access access() const { return {.topic = options.topic, .group = options.group_id}; }
  /// Why the consumer can't read: last_problem shows it, and the log has it with back-off.
  void NoteError(rd_kafka_resp_err_t error, const std::string& text);
  void NoteProblem(const std::string& name, const std::string& text);
  /// Why partitions of `pending` aren't open yet, likewise. Empty: all are open.
  void NoteOpening(const std::string& reason);

  // consumer_control.cc; the control thread
  Status PollControl(std::chrono::milliseconds timeout);
  void OnRebalance(rd_kafka_resp_err_t kind, const rd_kafka_topic_partition_list_t* partitions);
  void OpenPending();
  std::optional<std::vector<int32_t>> AskForOpening(rd_kafka_topic_partition_list_t* committed);
  void OpenAsked(const std::vector<int32_t>& leaders, const rd_kafka_topic_partition_list_t* committed);
  void Hold(const Error& error);
  /// The start offset; nullopt: the partition isn't read.
  Result<std::optional<int64_t>> OpenPartition(Assignment assignment,
                                               const rd_kafka_topic_partition_list_t* committed);
  void BeginReading(int32_t partition, int64_t start_offset);
  void Allowed();
  void Revoke(std::span<const int32_t> partitions, bool lost);
  void Commit(const std::map<int32_t, int64_t>& offsets);
  void OnCommitted(rd_kafka_resp_err_t error, const rd_kafka_topic_partition_list_t* offsets, Instant sent);
  void RevokeAll();  // partitions that librdkafka didn't revoke count as lost
  /// Gives librdkafka the assignment in `workers`, each partition from its next_offset.
  void ApplyAssignment();
  /// Whether this member may have caused its fencing itself, so that it joins again.
  bool MayJoinAgain();
  void ForwardUnheard();
  void WakeFetchers();
  void ProbeBrokers();

  // consumer_owners.cc
  /// A thread of its own: asks which partitions the group's members own. Returns when to ask again.
  std::chrono::milliseconds AskForOwners();
  /// The control thread: finds partitions without an owner, and makes the group assign them.
  void WatchOwners();
  /// The control thread: joins the group again if a topic that was away is back.
  void AwaitTopic();
  Status Subscribe();

  std::vector<std::unique_lock<std::recursive_mutex>> LockWorkers();

  // consumer_log_watch.cc; a thread of its own
  struct LogQuestion {
    Anchor sample;  // to be compared
    Anchor last;    // the next sample
  };
  struct LogWatch {
    std::set<int32_t> shorter;                // whose log ended before the sample in the last check
    std::map<int32_t, int64_t> next_offsets;  // in the last check
  };
  /// Reads the samples again, and sets the notices that are due. Returns when to do so again.
  std::chrono::milliseconds WatchLog(LogWatch& watch);
  std::map<int32_t, LogQuestion> MakeQuestions();
  /// True: the log seems too short; ask again soon.
  bool NoteFinding(int32_t partition, const LogQuestion& asked, const kafka::LogFinding& finding,
                   LogWatch& watch);

  // consumer_worker.cc
  size_t PollWorker(ConsumerWorker& worker, std::chrono::milliseconds timeout, WorkerHandler& handler);
  void Sort(ConsumerWorker& worker, const rd_kafka_message_t& message);
  /// True: the message needs nothing more.
  bool CheckLast(ConsumerWorker& worker, ConsumedPartition& partition, const rd_kafka_message_t& message);
  bool Doubts(ConsumedPartition& partition, const rd_kafka_message_t& message) const;
  void DeliverNotices(ConsumerWorker& worker, WorkerHandler& handler);

  const Options options;
  RebalanceHandler& rebalance;
  size_t drained_records = 0;  // what WakeFetchers counts as much; set once
  size_t drained_bytes = 0;
  std::vector<std::unique_ptr<ConsumerWorker>> workers;
  kafka::QueueHandle commits;  // answers to commits; destroyed before the client
  // Changed by the control thread. Destroyed before `workers`, but after the workers' queues, which Close
  // drops.
  mutable Mutex client_mutex;
  std::shared_ptr<rd_kafka_t> client GUARDED_BY(client_mutex);

  RepeatingThread log_watch;     // WatchLog; stopped before the client is destroyed
  RepeatingThread owners_watch;  // AskForOwners; stopped before the client is destroyed

  std::atomic<bool> reassign{false};  // a Seek or a lost message: ApplyAssignment is due
  std::atomic<bool> reachable{false};
  std::atomic<bool> topic_away{false};  // librdkafka said so; until partitions are assigned
  std::atomic<bool> doubted{false};     // a connection failed: ProbeBrokers asks whether any is left
  std::atomic<uint64_t> outages{0};     // connections or partitions that failed
  std::atomic<uint64_t> logs_checked{0};
  std::atomic<bool> joined{false};    // the group has assigned partitions, or decided on none
  std::atomic<bool> opening{false};   // `pending` isn't empty, for other threads
  std::atomic<bool> troubled{false};  // `problem` isn't empty
  std::atomic<uint64_t> commits_failed{0};
  std::atomic<uint64_t> records_stale{0};
  mutable Mutex problem_mutex;
  std::string problem GUARDED_BY(problem_mutex);
  std::string opening_problem GUARDED_BY(problem_mutex);
  std::vector<int32_t> unowned GUARDED_BY(problem_mutex);
  Mutex owned_mutex;
  std::optional<std::set<int32_t>> owned_by_group GUARDED_BY(owned_mutex);  // for WatchOwners

  // The control thread's own.
  bool closed = false;
  Status failure;             // PollControl returns it
  std::set<int32_t> pending;  // assigned by the group, OnAssigned hasn't answered yet
  std::set<int32_t> owned;    // assigned by the group, OnAssigning was called
  SteadyClock::time_point pending_next{};
  std::chrono::milliseconds pending_wait{100};
  bool unheard = false;
  bool topic_back = false;  // the brokers had the topic at the last question, see AwaitTopic
  SteadyClock::time_point topic_next{};
  std::chrono::milliseconds topic_wait{};
  SteadyClock::time_point unowned_since{};
  SteadyClock::time_point rejoin_next{};
  std::chrono::milliseconds rejoin_wait{5000};
  std::deque<SteadyClock::time_point> fenced_at;  // recent times
  SteadyClock::time_point probe_next{};
  int probes_failed = 0;
  SteadyClock::time_point fetchers_woken{};
  SteadyClock::time_point drained_at{};
  SteadyClock::time_point leaders_asked{};
  std::vector<int32_t> partition_by_leader;  // for each leader one partition of the topic
};

}  // namespace seen
