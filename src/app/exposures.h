#pragma once
// The input topic in the daemon: its consumer, its handler (consume/exposures_handler.h), and the threads
// that move data on. These are the workers (log -> tail), one checkpointer (tail -> store) and one publisher
// (store and tail -> snapshot topic).

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "app/rocks_stores.h"
#include "base/mutex.h"
#include "base/threads.h"
#include "consume/consumer_threads.h"
#include "consume/last_published_reader.h"
#include "consume/output_watch.h"
#include "flow/publisher.h"
#include "flow/update_sender.h"
#include "kafka/admin.h"
#include "kafka/consumer.h"
#include "owner/output_guard.h"
#include "topics/published_topics.h"

namespace seen {

class Exposures {
 public:
  /// Called when the process can't go on, on a thread of this object.
  using OnFailed = std::function<void(const Error&)>;
  struct Options {
    const Config* config = nullptr;
    std::shared_ptr<const EventPlan> plan;
    const ItemGroups* groups = nullptr;  // which items are similar; nullptr: off
    Consumer::Options consumer;
    bool rebuild = false;
    int32_t partitions_of_users = 0;       // the partition count that users are mapped by
    SnapshotSink* snapshots = nullptr;     // nullptr: no filter publishes
    PartitionSink* updates = nullptr;      // nullptr: no filter has updates
    bool publish_incomplete = false;       // see flow/last_published.h
    std::optional<BeatSender> watermarks;  // nullopt: none are written
    StateStreams* state = nullptr;         // the state topic; nullptr: off
    KeptCopies* kept = nullptr;            // folders of other daemons' partitions; nullptr: they stay
    OutputGuard* guard = nullptr;          // of the snapshot topics; nullptr: off
    const Admin* admin = nullptr;          // asks where the snapshot topics end
    const PublishLease* lease = nullptr;   // says when a partition may be published
    const OutputsOwner* owner = nullptr;   // nullptr: this group owns the outputs
    /// See ExposuresHandler::Options.
    std::function<bool(int32_t partition, Instant since)> ready_elsewhere = {};
  };
  /// All references outlive this object.
  static Result<std::unique_ptr<Exposures>> Start(const Options& options, const StoreDirectory& directory,
                                                  const StoreResources& resources, const MemoryBudget& budget,
                                                  DeadLetterSink& dead_letters, Reporter& reporter,
                                                  const Clock& clock, OnFailed on_failed);
  ~Exposures();  // calls Stop
  Exposures(const Exposures&) = delete;
  Exposures& operator=(const Exposures&) = delete;

  /// Afterwards no record is taken.
  void StopWorkers();
  /// Stops the workers, too. Then waits up to `drain` for snapshots under way, ends checkpointer and
  /// publisher, writes the last checkpoints and leaves the group. Idempotent, one thread.
  void Stop(std::chrono::milliseconds drain);

  /// Any thread.
  void WakePublisher() { to_publish_.Wake(); }
  OpenPartitions& open() { return handler_.open(); }
  const OpenPartitions& open() const { return handler_.open(); }
  std::vector<PartitionProblem> Problems() const { return topic_consumer_.Problems(); }
  std::vector<OpenTransaction> OpenTransactions() const { return topic_consumer_.OpenTransactions(); }
  const Consumer& consumer() const { return *consumer_; }

 private:
  /// Wakes a thread that waits for work.
  class Work {
   public:
    void Wake();
    void WaitFor(std::chrono::milliseconds time, const std::atomic<bool>& stop);

   private:
    Mutex mutex_;
    ConditionVariable wanted_;
    bool is_wanted_ GUARDED_BY(mutex_) = false;
  };
  Exposures(const Options& options, const StoreDirectory& directory, const StoreResources& resources,
            const MemoryBudget& budget, DeadLetterSink& dead_letters, Reporter& reporter, const Clock& clock);
  void RunCheckpointer();
  void RunPublisher();

  const Clock& clock_;
  Work to_checkpoint_;
  Work to_publish_;
  std::atomic<bool> stop_{false};
  SpaceSignal room_;
  RocksStores stores_;
  ExposuresHandler handler_;
  TopicConsumer topic_consumer_;
  std::unique_ptr<Consumer> consumer_;  // calls the topic_consumer
  std::optional<Publisher> publisher_;
  PublishedTopics published_topics_;
  std::optional<LastPublishedReader> last_published_;
  std::optional<OutputWatch> output_watch_;
  std::optional<UpdateSender> updates_;
  std::unique_ptr<ConsumerThreads> threads_;
  std::thread checkpointer_;
  std::thread publisher_thread_;
  RepeatingThread updates_thread_;
};

}  // namespace seen
