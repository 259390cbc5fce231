#pragma once
// Reads a topic as a member of a group. Gives each partition's records to its handler in order, each record
// once, from where the handler's state is. It handles a lack of space, failures, lost records, a log that
// isn't the one that was read, and partitions that come and go. A fault of one partition stops that partition
// only.
//
// It has no threads: their owner calls the steps (consume/consumer_threads.h; the simulation).

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log_budget.h"
#include "base/mutex.h"
#include "consume/group_log.h"
#include "consume/stream_status.h"
#include "consume/topic_handler.h"

namespace seen {

/// A partition that is assigned to this member and isn't read as it should be.
struct PartitionProblem {
  enum class Kind : uint8_t {
    kOpening,  // its state can't be opened now; retried
    kRefused,  // an operator decides
    kStopped,  // its state can't be read
    kWaiting,  // open; retried after a failure
  };
  int32_t partition = 0;
  Kind kind = Kind::kOpening;
  std::string reason;  // for people

  /// True: nothing changes until an operator acts.
  bool IsRefused() const { return kind == Kind::kRefused || kind == Kind::kStopped; }
};

/// Threads. StepControl, Close: one thread, the control thread. StepWorker(w): one thread for each w; none
/// while Close runs. Everything else: any thread.
class TopicConsumer final : public RebalanceHandler, public WorkerHandler {
 public:
  struct Options {
    std::string topic;
    /// What an operator may do instead of --rebuild if the log isn't the one that was read. A clause that
    /// ends with ", or ".
    std::string remedy;
    std::string rebuild_does = "drop this partition's state and read it from its earliest record";
    bool rebuild = false;
    std::chrono::milliseconds commit_every{1000};
    std::chrono::milliseconds hold_max{1000};  // limits how long a rebalance waits: the rest is read again
    std::chrono::milliseconds read_on_after{500};
    std::chrono::milliseconds closing_patience{1000};  // for partitions that are revoked
  };
  TopicConsumer(Options options, TopicHandler& handler, ConsumerWait& wait, const Clock& clock);
  ~TopicConsumer() override;
  /// Call it before the first step. `log` must outlive this object.
  void SetLog(GroupLog& log) { log_ = &log; }

  /// Polls the log for at most `timeout`, commits, and calls the handler's step. An error: the process can't
  /// go on (fenced, or no partition can be opened).
  Status StepControl(std::chrono::milliseconds timeout);
  /// Polls once, and does what is due for the worker's partitions.
  void StepWorker(int worker, std::chrono::milliseconds timeout);
  /// From here on no record is taken. Ends a hold.
  void StopWorkers() { workers_stop_.store(true); }
  /// Call it after the last StepWorker. Closes all partitions, waits up to `drain` for records in flight,
  /// commits, and closes the log.
  void Close(std::chrono::milliseconds drain);

  std::vector<PartitionProblem> Problems() const;
  /// Transactions that have been open for some seconds, and that reading waits for. Ascending by partition.
  std::vector<OpenTransaction> OpenTransactions() const;

  void OnAssigning(std::span<const int32_t> partitions, int32_t partition_count) override {
    handler_.Expect(partitions, partition_count);
  }
  Result<std::optional<int64_t>> OnAssigned(const Assignment& assignment) override;
  Anchor LastRead(int32_t partition) override;
  void OnRevoked(std::span<const int32_t> partitions, bool lost) override;
  void OnBatch(const PartitionBatch& batch) override;
  void OnPolled(int worker) override;
  void OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) override;
  void OnLogReplaced(int32_t partition, int64_t offset, const Watermarks& now) override;

 private:
  using HandlerPointer = std::shared_ptr<PartitionHandler>;
  struct Run {
    Run(const Assignment& assignment, HandlerPointer opened)
        : partition(assignment.partition),
          partition_count(assignment.partition_count),
          handler(std::move(opened)) {}
    const int32_t partition;
    const int32_t partition_count;
    Mutex mutex;  // held in the worker's role: by the worker, or by control while it closes
    /// nullptr: refused. While the run is in runs_, a change also needs the topic consumer's mutex_.
    HandlerPointer handler GUARDED_BY(mutex);
    bool closed GUARDED_BY(mutex) = false;
    std::optional<Instant> read_on_at GUARDED_BY(mutex);  // nothing is taken before
    std::optional<Instant> look_at GUARDED_BY(mutex);     // likewise, while other work goes on
    std::optional<Instant> held_since GUARDED_BY(mutex);
    std::atomic<int64_t> at_end{-1};  // the end that was reached, if no record came since; worker writes
  };
  /// Of a partition that was read up to the end for readers of committed records.
  struct Standing {
    int64_t at_end = -1;
    Instant look_at;  // whether a transaction is open there
    TimeMs since;
  };
  using RunPointer = std::shared_ptr<Run>;
  enum class Outcome : uint8_t { kGoesOn, kStops };

  Result<HandlerPointer> Open(Assignment assignment);
  Result<HandlerPointer> OpenOnce(const Assignment& assignment);
  Error Cut(int32_t partition, int64_t reached, int64_t end) const;
  Outcome TakeRecords(Run& run, std::span<const Record> records) REQUIRES(run.mutex);
  Outcome WaitForSpace(Run& run, std::optional<Instant>& waits_since) REQUIRES(run.mutex);
  Outcome StepIdle(Run& run) REQUIRES(run.mutex);
  void ReadOn(Run& run) REQUIRES(run.mutex);
  void OpenAgain(Run& run) REQUIRES(run.mutex);
  void Failed(Run& run, const Error& error) REQUIRES(run.mutex);
  void TryLater(int32_t partition, PartitionProblem::Kind kind, const Error& error);
  void Refuse(int32_t partition, const Error& error);
  void SetProblem(int32_t partition, PartitionProblem::Kind kind, const std::string& reason);
  void ClearProblem(int32_t partition);
  void CommitOffsets();
  void WatchTransaction(const Run& run, const Watermarks& known, bool& asked);
  // A handler is changed with both mutexes held, so either is enough to read it.
  HandlerPointer HandlerOf(const Run& run) const REQUIRES(mutex_) NO_THREAD_SAFETY_ANALYSIS {
    return run.handler;
  }
  RunPointer Find(int32_t partition) const;
  std::vector<RunPointer> All() const;

  const Options options_;
  TopicHandler& handler_;
  ConsumerWait& wait_;
  const Clock& clock_;
  GroupLog* log_ = nullptr;
  std::atomic<bool> workers_stop_{false};
  LogBudget failed_budget_;

  mutable Mutex mutex_;
  std::map<int32_t, RunPointer> runs_ GUARDED_BY(mutex_);
  std::map<int32_t, PartitionProblem> problems_ GUARDED_BY(mutex_);
  std::map<int32_t, OpenTransaction> open_transactions_ GUARDED_BY(mutex_);

  // Control thread.
  Instant committed_at_{};
  std::optional<Instant> closing_until_;
  std::map<int32_t, Standing> standing_;
};

}  // namespace seen
