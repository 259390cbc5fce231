#pragma once
// The stream of items in the daemon. Waits for the topics of items, then starts their reader
// (similar/consume/items_handler.h). If items.topic has several partitions, also starts re-keying, which puts
// the items in order.

#include <array>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/log_budget.h"
#include "base/mutex.h"
#include "flow/reporter.h"
#include "owner/lease.h"
#include "similar/port/similar_port.h"

namespace seen {

/// Counts and logs what re-keying reports of items. Rejected items are in the dead letters.
/// Any thread.
class ItemsRekeyReports final : public RekeyReporter {
 public:
  /// `loss`: gets what batches lose, and outlives this; nullptr: nothing watches.
  explicit ItemsRekeyReports(LossWatch* loss) : loss_(loss) {}
  void BatchRekeyed(const RekeyReport& report) override;
  void EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) override;
  void RekeyingLost(int32_t partition, const LostRange& range) override;
  std::array<uint64_t, kRejectReasons> rejected() const;

 private:
  LossWatch* const loss_;
  std::array<std::atomic<uint64_t>, kRejectReasons> rejected_{};
  LogBudget budget_;
};

class Admin;
class Clock;
class IdfTable;
struct Config;
struct ItemsStatus;
struct ItemTopics;
class StoreResources;

class Items final : public SimilarPort {
 public:
  /// Called when the process can't go on, on a thread of this object.
  using OnFailed = std::function<void(const Error&)>;
  struct Options {
    const Config* config = nullptr;             // has `items`
    LeaseTimes lease_times{};                   // of the group that reads items
    std::string directory;                      // of the store
    const StoreResources* resources = nullptr;  // outlives this object
    std::string instance_id;
    bool rebuild = false;
    bool embedded_kafka = false;
    bool guards_groups = true;  // false: other groups of daemons write the same topic of groups
    int threads = 1;            // for reading items
    uint64_t fetch_bytes_max = 0;
    uint64_t producer_bytes_max = 0;
    uint64_t dead_letter_bytes_max = 0;
    uint64_t presence_bytes_max = 0;  // for all indexes together
    LossWatch* loss = nullptr;        // gets what is rejected; nullptr: nothing watches
  };
  /// Opens in the background. kInvalidArgument: items.idf_file can't be read. `admin` outlives this object.
  static Result<std::unique_ptr<Items>> Start(const Options& options, const Admin& admin, const Clock& clock,
                                              OnFailed on_failed);
  ~Items() override;  // calls Stop

  /// Stops reading, waits up to `drain` for records under way, writes the last checkpoint and leaves the
  /// group. Idempotent.
  void Stop(std::chrono::milliseconds drain);
  /// Any thread.
  ItemsStatus GetStatus() const;
  Result<SimilarAnswer> Similar(const SimilarQuestion& question) override;

 private:
  struct Reading;
  Items(const Options& options, const Admin& admin, const Clock& clock, OnFailed on_failed);
  Status Open();  // any error except kInvalidArgument: try again
  Status OpenIndexes(const ItemTopics& topics, Reading& reading);
  Status OpenHandler(const ItemTopics& topics, Reading& reading);
  Status StartRekeying(const ItemTopics& topics, Reading& reading);
  void OpenWithRetries();
  void Refuse(const Error& error);
  void SetProblem(std::string problem);

  const Options options_;
  const Admin& admin_;
  const Clock& clock_;
  const OnFailed on_failed_;
  std::shared_ptr<const IdfTable> idf_;
  std::string idf_text_;
  const std::unique_ptr<ItemsRekeyReports> rekey_reports_;

  mutable Mutex mutex_;
  ConditionVariable stop_wanted_;
  std::string problem_ GUARDED_BY(mutex_) = "waiting for items' topics";
  bool stop_ GUARDED_BY(mutex_) = false;

  std::unique_ptr<Reading> reading_;
  std::atomic<Reading*> open_{nullptr};  // reading_, once it is complete
  std::thread opening_;
};

}  // namespace seen
