#pragma once
// Reads a topic as a member of a group and gives each partition's records to its taker: in order, each once
// from where the taker's state is. It decides what happens when there is no room, when something fails, when
// records are lost, when the log isn't the one that was read, and when partitions come and go. One
// partition's fault stops that partition alone.
//
// It has no threads: whoever owns them calls the steps (run/runner_threads.h; the simulation).

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
#include "run/group_log.h"
#include "run/topic_taker.h"

namespace seen {

/// A partition that is assigned to this member and isn't read as it should be.
struct PartitionProblem {
  enum class Kind : uint8_t {
    kOpening,  // its state can't be opened now; asked again
    kRefused,  // an operator decides
    kStopped,  // its state can't be read
    kWaiting,  // open; tried again after a failure
  };
  int32_t partition = 0;
  Kind kind = Kind::kOpening;
  std::string reason;  // for people

  /// Nothing changes before an operator acts.
  bool IsRefused() const { return kind == Kind::kRefused || kind == Kind::kStopped; }
};

/// Threads. StepControl, Close: one, the control thread. StepWorker(w): one for each w; none while Close
/// runs. Everything else: any.
class TopicRunner final : public RebalanceHandler, public WorkerHandler {
 public:
  struct Options {
    std::string topic;
    /// What an operator may do beside --rebuild when the log isn't the one that was read; a clause that ends
    /// with ", or ".
    std::string remedy;
    std::string rebuild_does = "drop this partition's state and read it from its earliest record";
    bool rebuild = false;
    std::chrono::milliseconds commit_every{1000};
    std::chrono::milliseconds hold_max{1000};  // a rebalance waits for a batch: the rest is read again
    std::chrono::milliseconds read_on_after{500};
    std::chrono::milliseconds closing_patience{1000};  // of partitions that are revoked
  };
  TopicRunner(Options options, TopicTaker& taker, RunnerWait& wait, const Clock& clock);
  ~TopicRunner() override;
  /// Before the first step; outlives this.
  void SetLog(GroupLog& log) { log_ = &log; }

  /// Polls the log, for `timeout` at most; commits; lets the taker do its step. An error: the process can't
  /// go on (fenced, or no partition can be opened).
  Status StepControl(std::chrono::milliseconds timeout);
  /// One poll and what is due for the worker's partitions.
  void StepWorker(int worker, std::chrono::milliseconds timeout);
  /// No record is taken from here on; a hold ends.
  void StopWorkers() { workers_stop_.store(true); }
  /// After the last StepWorker: closes all partitions, waiting up to `drain` for what is on its way, commits,
  /// and leaves the log.
  void Close(std::chrono::milliseconds drain);

  std::vector<PartitionProblem> Problems() const;

  void OnAssigning(std::span<const int32_t> partitions, int32_t partition_count) override {
    taker_.Expect(partitions, partition_count);
  }
  Result<std::optional<int64_t>> OnAssigned(const Assignment& assignment) override;
  Anchor LastRead(int32_t partition) override;
  void OnRevoked(std::span<const int32_t> partitions, bool lost) override;
  void OnBatch(const PartitionBatch& batch) override;
  void OnPolled(int worker) override;
  void OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) override;
  void OnLogReplaced(int32_t partition, int64_t offset, const Watermarks& now) override;

 private:
  using TakerPointer = std::shared_ptr<PartitionTaker>;
  struct Run {
    Run(const Assignment& assignment, TakerPointer opened)
        : partition(assignment.partition),
          partition_count(assignment.partition_count),
          taker(std::move(opened)) {}
    const int32_t partition;
    const int32_t partition_count;
    Mutex mutex;  // the worker's role: the worker, or control while it closes
    /// nullptr: refused. While the run is in runs_ it is changed with the runner's mutex_ held, too.
    TakerPointer taker GUARDED_BY(mutex);
    bool closed GUARDED_BY(mutex) = false;
    std::optional<Instant> read_on_at GUARDED_BY(mutex);  // nothing is taken before
    bool held GUARDED_BY(mutex) = false;
  };
  using RunPointer = std::shared_ptr<Run>;
  enum class Outcome : uint8_t { kGoesOn, kStops };

  Result<TakerPointer> Open(Assignment assignment);
  Result<TakerPointer> OpenOnce(const Assignment& assignment);
  Error Cut(int32_t partition, int64_t reached, int64_t end) const;
  Outcome TakeRecords(Run& run, std::span<const Record> records) REQUIRES(run.mutex);
  Outcome WaitForRoom(Run& run, std::optional<Instant>& held_since) REQUIRES(run.mutex);
  Outcome StepIdle(Run& run) REQUIRES(run.mutex);
  void ReadOn(Run& run) REQUIRES(run.mutex);
  void OpenAgain(Run& run) REQUIRES(run.mutex);
  void Failed(Run& run, const Error& error) REQUIRES(run.mutex);
  void TryLater(int32_t partition, PartitionProblem::Kind kind, const Error& error);
  void Refuse(int32_t partition, const Error& error);
  void SetProblem(int32_t partition, PartitionProblem::Kind kind, const std::string& reason);
  void ClearProblem(int32_t partition);
  void CommitOffsets();
  // A taker is changed with both mutexes held, so either is enough to read it.
  TakerPointer TakerOf(const Run& run) const REQUIRES(mutex_) NO_THREAD_SAFETY_ANALYSIS { return run.taker; }
  RunPointer Find(int32_t partition) const;
  std::vector<RunPointer> All() const;

  const Options options_;
  TopicTaker& taker_;
  RunnerWait& wait_;
  const Clock& clock_;
  GroupLog* log_ = nullptr;
  std::atomic<bool> workers_stop_{false};
  LogBudget failed_budget_;

  mutable Mutex mutex_;
  std::map<int32_t, RunPointer> runs_ GUARDED_BY(mutex_);
  std::map<int32_t, PartitionProblem> problems_ GUARDED_BY(mutex_);

  // Control thread.
  Instant committed_at_{};
  std::optional<Instant> closing_until_;
};

}  // namespace seen
