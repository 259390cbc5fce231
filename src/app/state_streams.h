#pragma once
// The state topic in the daemon: what its partitions' checkpoints change goes there, and state that is
// missing comes from there.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/clock.h"
#include "base/log_budget.h"
#include "base/mutex.h"
#include "flow/checkpoint_recorder.h"
#include "kafka/admin.h"
#include "kafka/state_topic.h"
#include "rocks/resources.h"
#include "state_stream/partition_stream.h"
#include "state_stream/restore_jobs.h"
#include "store/rocks_partition_store.h"
#include "topics/cluster_owner.h"

namespace seen {

/// Any thread. It has threads of its own: one sends and trims, up to two restore.
class StateStreams {
 public:
  struct Options {
    StateTopicOptions topic;
    std::string instance;
    std::string directory;  // of the stores
    std::chrono::milliseconds run_every{60'000};
    std::chrono::milliseconds trim_after{3'600'000};
    uint64_t changes_bytes_max = 64 << 20;  // of each partition, in memory
    bool restores = true;
    const ClusterOwner* owner = nullptr;  // outlives this. nullptr: this group owns
  };
  /// All references outlive this.
  static Result<std::unique_ptr<StateStreams>> Start(Options options, const Admin& admin,
                                                     const StoreResources& resources, const Clock& clock);
  ~StateStreams();
  StateStreams(const StateStreams&) = delete;
  StateStreams& operator=(const StateStreams&) = delete;

  /// Streams the partition's state until what it returns goes, which must be before `store` does. Then it
  /// still sends what was recorded, within two seconds. A replica streams nothing.
  std::unique_ptr<CheckpointRecorder> Follow(int32_t partition, RocksPartitionStore& store);

  /// Puts state into the partition's place where the state topic holds later state than is there. It isn't
  /// open. kUnavailable, saying how far it is: ask again. OK: it is there, or there is none to be had.
  Status Restore(const StoreIdentity& identity);
  /// Restore is to be called: it begins.
  void Expect(const StoreIdentity& identity);
  /// What Restore has begun is of no use any more.
  void Abandon(int32_t partition) { restores_.Abandon(partition); }

  /// As of the last step; waits for nothing.
  StateTopicStatus GetStatus() const;

 private:
  class Recorder;
  /// What a partition's bases have made superfluous.
  struct Trimming {
    std::map<int64_t, Instant> whole_since;  // bases, by where they begin
    int64_t trimmed_to = kNoOffset;
  };
  StateStreams(Options options, std::unique_ptr<StateProducer> producer, const Admin& admin,
               const StoreResources& resources, const Clock& clock);
  void Run();
  void Step() REQUIRES(mutex_);
  bool Look(StateTopicReader& reader, int32_t partition);
  PartitionStream& Enter(int32_t partition, RocksPartitionStore& store);
  void Leave(int32_t partition);
  void Trim();
  Status RunRestore(StateTopicReader& reader, const StoreIdentity& identity, RestoreProgress& progress);

  const Options options_;
  const Admin& admin_;
  const StoreResources& resources_;
  const Clock& clock_;
  std::atomic<bool> stop_{false};
  mutable Mutex mutex_;
  std::unique_ptr<StateProducer> producer_ GUARDED_BY(mutex_);
  std::map<int32_t, std::unique_ptr<PartitionStream>> streams_ GUARDED_BY(mutex_);
  Instant hurries_until_ GUARDED_BY(mutex_){};  // leaving doesn't wait
  std::map<int32_t, Trimming> trimmings_;       // the thread's own
  Instant trimmed_at_{};                        // likewise
  Instant look_at_{};                           // likewise
  std::chrono::milliseconds look_wait_{250};    // likewise
  LogBudget unread_budget_;                     // likewise
  LogBudget trim_budget_;                       // likewise
  mutable Mutex shown_mutex_;
  std::string problem_ GUARDED_BY(shown_mutex_);
  std::string write_problem_ GUARDED_BY(shown_mutex_);
  std::map<int32_t, StateStreamFigures> shown_ GUARDED_BY(shown_mutex_);
  RestoreJobs restores_;
  std::thread thread_;
};

}  // namespace seen
