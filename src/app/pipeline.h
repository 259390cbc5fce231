#pragma once
// The threads that move data: workers (log -> tail), one checkpointer (tail -> store), one publisher (store
// and tail -> snapshot topic). Started together, stopped in the order of the data's way.

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "app/partition_set.h"
#include "flow/publisher.h"
#include "kafka/consumer.h"
#include "kafka/snapshot_producer.h"

namespace seen {

class Pipeline {
 public:
  /// `on_refused`: a worker found what the daemon must not go on with. Called from any of the threads.
  using OnRefused = std::function<void(const Error&)>;
  struct Publication {
    SnapshotProducer* snapshots = nullptr;  // nullptr: no filter publishes
    std::optional<FilterIndex> watermarks;  // their topic's number there; nullopt: none are written
    const PublishLease* lease = nullptr;    // outlives the pipeline
  };
  Pipeline(PartitionSet& partitions, Consumer& consumer, const Publication& publication, Reporter& reporter,
           const Clock& clock, int workers, OnRefused on_refused);
  ~Pipeline();  // Stop
  Pipeline(const Pipeline&) = delete;
  Pipeline& operator=(const Pipeline&) = delete;

  /// Control thread. No record is taken after it returns.
  void StopWorkers();
  /// Then, too: waits up to `drain` for snapshots under way, then ends checkpointer and publisher.
  void Stop(std::chrono::milliseconds drain);

 private:
  class Worker;
  void RunCheckpointer();
  void RunPublisher();
  void Wake(std::condition_variable& condition);

  PartitionSet& partitions_;
  Consumer& consumer_;
  std::optional<Publisher> publisher_;  // nullopt: no filter publishes
  Reporter& reporter_;
  const Clock& clock_;
  const OnRefused on_refused_;

  std::atomic<bool> workers_stop_{false};
  std::atomic<bool> stop_{false};
  std::mutex wake_mutex_;
  std::condition_variable checkpoint_wanted_;
  std::condition_variable checkpoint_done_;
  std::condition_variable publish_wanted_;
  bool publish_is_wanted_ = false;     // wake_mutex_
  bool checkpoint_is_wanted_ = false;  // wake_mutex_

  std::vector<std::thread> workers_;
  std::thread checkpointer_;
  std::thread publisher_thread_;
};

}  // namespace seen
