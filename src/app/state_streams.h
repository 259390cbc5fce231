#pragma once
// The state topic in the daemon. Sends the changes of checkpoints there, and restores missing state from
// there.

#include <atomic>
#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/back_off.h"
#include "base/clock.h"
#include "base/log_budget.h"
#include "base/mutex.h"
#include "flow/partition_options.h"
#include "kafka/admin.h"
#include "kafka/state_topic.h"
#include "owner/outputs_owner.h"
#include "rocks/resources.h"
#include "state_stream/partition_stream.h"
#include "state_stream/restore_jobs.h"
#include "state_stream/retention.h"
#include "store/rocks_partition_store.h"

namespace seen {

/// Any thread. The object has its own threads: one sends and trims, up to two restore.
class StateStreams {
 public:
  struct Options {
    StateTopicOptions topic;
    std::string instance;
    std::string directory;  // the folder of the stores
    std::chrono::milliseconds run_every{60'000};
    std::chrono::milliseconds trim_after{3'600'000};
    uint64_t changes_bytes_max = 64 << 20;  // in memory, for each partition
    bool restores = true;
    const Promotions* owner = nullptr;  // outlives this object. nullptr: this group owns
  };
  /// All references outlive this object.
  static Result<std::unique_ptr<StateStreams>> Start(Options options, const Admin& admin,
                                                     const StoreResources& resources, const Clock& clock);
  ~StateStreams();
  StateStreams(const StateStreams&) = delete;
  StateStreams& operator=(const StateStreams&) = delete;

  /// Streams the partition's state until the returned recorder is destroyed, which must be before `store` is.
  /// The recorder then still sends what was recorded, within two seconds. A replica streams nothing.
  std::unique_ptr<CheckpointRecorder> Follow(int32_t partition, RocksPartitionStore& store);

  /// Puts state into the partition's place if the state topic has later state than this machine. The
  /// partition isn't open. kUnavailable, with the progress: ask again. OK: the state is in place, or the
  /// topic has none.
  Status Restore(const StoreIdentity& identity);
  /// Begins a restore. The caller will call Restore.
  void Expect(const StoreIdentity& identity);
  /// The result of the restore is no longer needed.
  void Abandon(int32_t partition) { restores_.Abandon(partition); }

  /// As of the last step. Never waits for a step.
  StateTopicStatus GetStatus() const;

 private:
  class Recorder;
  StateStreams(Options options, std::unique_ptr<PartitionProducer> producer, const Admin& admin,
               const StoreResources& resources, const Clock& clock);
  void Run();
  void Step() REQUIRES(mutex_);
  bool Look(StateTopicReader& reader, int32_t partition);
  void Watch();
  void WatchBases(const std::map<int32_t, int64_t>& next_offsets);
  bool HoldsBase(StateTopicReader& reader, int32_t partition, int64_t base_at);
  void SetProblem(int32_t partition, std::string problem);
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
  std::unique_ptr<PartitionProducer> producer_ GUARDED_BY(mutex_);
  std::map<int32_t, std::unique_ptr<PartitionStream>> streams_ GUARDED_BY(mutex_);
  Instant hurries_until_ GUARDED_BY(mutex_){};  // until then, leaving doesn't wait
  StreamTrimmer trimmer_;                       // only used by thread_
  Instant look_at_{};                           // likewise
  Instant watch_at_{};                          // likewise
  BackOff look_wait_{std::chrono::milliseconds(500), std::chrono::seconds(30)};  // likewise
  LogBudget unread_budget_;                                                      // likewise
  LogBudget trim_budget_;                                                        // likewise
  mutable Mutex shown_mutex_;
  // By partition, what keeps its state from the topic.
  std::map<int32_t, std::string> missing_ GUARDED_BY(shown_mutex_);   // the topic lacks the partition
  std::map<int32_t, std::string> problems_ GUARDED_BY(shown_mutex_);  // where the stream stands isn't known
  std::map<int32_t, StateStreamFigures> shown_ GUARDED_BY(shown_mutex_);
  RestoreJobs restores_;
  std::thread thread_;
};

}  // namespace seen
