#pragma once
// Input that isn't keyed as it has to be, on to the topic that is: a consumer group of its own over the
// source topic, which the daemons of one group share. Its threads: control, workers, and the producer's
// acknowledgements.

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "app/partition_set.h"
#include "config/config.h"
#include "kafka/consumer.h"
#include "kafka/dead_letter_producer.h"
#include "kafka/keyed_producer.h"
#include "run/rekey_flow.h"
#include "run/rekey_progress.h"
#include "run/status.h"

namespace seen {

class Rekeying final : public RebalanceHandler, public WorkerHandler {
 public:
  using OnRefused = std::function<void(const Error&)>;
  /// A keyer of its own for each partition's flow.
  using MakeKeyer = std::function<std::shared_ptr<RecordKeyer>()>;
  struct Options {
    const Config* config = nullptr;
    std::string source_topic;
    std::string keyed_topic;
    std::string_view topic_key;  // of the configuration, that names the topic; a constant
    std::string group_id;
    uint64_t record_bytes_max = 1 << 20;  // a record's value
    MakeKeyer make_keyer;
    std::string instance_id;
    bool rebuild = false;  // a source that ends before the committed offset is read from its start
    int workers = 1;
    size_t keyed_message_bytes_max = 1 << 20;  // the keyed topic's
    uint64_t fetch_bytes_max = 0;
    uint64_t dead_letter_bytes_max = 0;
    uint64_t producer_bytes_max = 0;
  };
  /// Events by user, as `config` has it. The rest is the caller's to fill in.
  static Options ForEvents(const Config& config, const std::shared_ptr<const EventPlan>& plan);
  /// Who reads the keyed topic and must not answer before this has caught up; both outlive this.
  struct Readers {
    PartitionSet* partitions = nullptr;
    const Consumer* keyed = nullptr;
  };
  /// `readers`: nullptr where nobody waits.
  static Result<std::unique_ptr<Rekeying>> Start(const Options& options, const Readers& readers,
                                                 Reporter& reporter, const Clock& clock,
                                                 OnRefused on_refused);
  ~Rekeying() override;  // Stop

  /// Reads no more, waits up to `drain` for what is on its way, commits, leaves. Idempotent, one thread.
  void Stop(std::chrono::milliseconds drain);
  /// Any thread.
  RekeyingStatus GetStatus() const;

  Result<std::optional<int64_t>> OnAssigned(const Assignment& assignment) override;
  void OnRevoked(std::span<const int32_t> partitions, bool lost) override;
  void OnBatch(const PartitionBatch& batch) override;
  void OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) override;

 private:
  using FlowPointer = std::shared_ptr<RekeyFlow>;
  Rekeying(const Options& options, const Readers& readers, Reporter& reporter, const Clock& clock,
           OnRefused on_refused);
  Status Open();
  void RunControl();
  void RunWorker(int number);
  bool RewindIfDue(RekeyFlow& flow);
  void Tell(std::span<const KeyedProducer::Outcome> outcomes);
  FlowPointer Find(int32_t partition) const;
  std::vector<FlowPointer> All() const;
  void NoteLost(int32_t partition, int64_t from, int64_t to);
  bool Arrived(std::span<const FlowPointer> flows, std::chrono::milliseconds patience) const;
  void CommitPositions();
  void LookAtLag();
  void OpenToReaders();

  const Options options_;
  const Readers readers_;
  Reporter& reporter_;
  const Clock& clock_;
  const OnRefused on_refused_;

  std::unique_ptr<DeadLetterProducer> dead_letters_;
  std::unique_ptr<KeyedProducer> producer_;
  std::unique_ptr<Consumer> consumer_;
  std::atomic<bool> workers_stop_{false};
  std::atomic<bool> stop_{false};
  std::atomic<int64_t> drain_ms_{0};

  mutable std::mutex mutex_;
  std::map<int32_t, FlowPointer> flows_;    // mutex_; by partition
  std::map<uint32_t, FlowPointer> by_tag_;  // mutex_
  uint32_t next_tag_ = 1;                   // mutex_
  RekeyProgress progress_;                  // mutex_
  std::map<int32_t, uint64_t> lost_;        // mutex_
  std::map<int32_t, int64_t> committed_;    // control thread

  std::vector<std::thread> workers_;
  std::thread control_;
};

}  // namespace seen
