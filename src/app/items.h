#pragma once
// The stream of items in the daemon: waits for its topics, puts a topic of several partitions in order, owns
// partitions of the ordered one, and answers what is like a text. Its threads: control, a worker and those
// that read items for it (item_reading.h); re-keying's.

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "app/item_partition.h"
#include "app/rekeying.h"
#include "base/log_budget.h"
#include "config/config.h"
#include "items/similar_port.h"
#include "kafka/admin.h"
#include "kafka/consumer.h"
#include "run/status.h"

namespace seen {

class Items final : public SimilarPort, public RebalanceHandler, public WorkerHandler {
 public:
  using OnFailed = std::function<void(const Error&)>;
  struct Options {
    const Config* config = nullptr;             // with `items`
    std::string directory;                      // of the store
    const StoreResources* resources = nullptr;  // outlives this
    std::string instance_id;
    bool rebuild = false;
    bool embedded_kafka = false;
    int threads = 1;  // that read items
    uint64_t fetch_bytes_max = 0;
    uint64_t producer_bytes_max = 0;
    uint64_t dead_letter_bytes_max = 0;
    uint64_t presence_bytes_max = 0;  // of all indexes together
  };
  /// Begins in the background. kInvalidArgument: items.idf_file can't be read. `admin` outlives this.
  static Result<std::unique_ptr<Items>> Start(const Options& options, const Admin& admin, const Clock& clock,
                                              OnFailed on_failed);
  ~Items() override;  // Stop

  /// Reads no more, waits up to `drain` for what is on its way, last checkpoint, leaves. Idempotent.
  void Stop(std::chrono::milliseconds drain);
  /// Any thread.
  ItemsStatus GetStatus() const;
  Result<SimilarAnswer> Similar(const SimilarQuestion& question) override;

  Result<std::optional<int64_t>> OnAssigned(const Assignment& assignment) override;
  void OnRevoked(std::span<const int32_t> partitions, bool lost) override;
  void OnBatch(const PartitionBatch& batch) override;
  void OnOffsetOutOfRange(int32_t partition, int64_t wanted_offset, const Watermarks& now) override;

 private:
  class RekeyReports;
  using PartitionPointer = std::shared_ptr<ItemPartition>;
  Items(const Options& options, const Admin& admin, const Clock& clock, OnFailed on_failed);
  Status ReadIdf();
  Status Open();  // kUnavailable: again
  Status StartRekeying(int32_t source_partitions);
  void RunControl();
  void RunWorker();
  bool WaitFor(std::chrono::milliseconds time);
  void Refuse(const Error& error);
  void SetProblem(std::string problem);
  PartitionPointer Find(int32_t partition) const;
  std::vector<PartitionPointer> All() const;

  const Options options_;
  const ItemsConfig& config_;
  const Admin& admin_;
  const Clock& clock_;
  const OnFailed on_failed_;
  std::shared_ptr<const IdfTable> idf_;
  std::string idf_text_;

  std::unique_ptr<RekeyReports> rekey_reports_;
  std::unique_ptr<DeadLetterProducer> dead_letters_;
  std::unique_ptr<Rekeying> rekeying_;
  std::unique_ptr<Consumer> consumer_;
  std::atomic<bool> open_{false};  // what is above and below is made, and doesn't change any more
  std::string ordered_topic_;
  int32_t ordered_partitions_ = 0;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<int32_t, PartitionPointer> partitions_;     // mutex_
  std::map<int32_t, Instant> held_until_;              // the worker's: to be read on then
  LogBudget held_budget_;                              // the worker's
  std::string problem_ = "waiting for items' topics";  // mutex_
  bool stop_ = false;                                  // mutex_
  std::atomic<bool> stopping_{false};
  std::atomic<int64_t> drain_ms_{0};
  std::mutex writer_mutex_;  // the partitions' writer role: the worker, or control while it opens and closes

  std::thread worker_;
  std::thread control_;
};

}  // namespace seen
