#pragma once
// What a daemon does beside its partitions as long as its group owns the outputs: re-keying, and the index of
// items.

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/exposures.h"
#include "config/command_line.h"
#include "owner/lease.h"
#include "owner/outputs_owner.h"
#include "query/queries.h"
#include "serve/metrics.h"
#include "similar/daemon/items.h"
#include "topics/daemon_topics.h"
#include "topics/rekeying.h"

namespace seen {

/// Start and Stop: main thread. The figures: any thread.
class OwnersWork {
 public:
  struct Options {
    const RunCommand& command;
    const Config& config;
    const Promotions& promotions;
    const MemoryBudget& budget;
    const StoreResources& resources;
    const Admin& admin;
    const Clock& clock;
    Metrics& metrics;
    Queries& queries;
    LeaseTimes lease_times;
    std::string instance_id;
    std::string directory;
    LossWatch* items_loss;                        // nullptr: nothing watches items
    std::function<void(const Error&)> on_failed;  // the process can't go on
  };
  /// The references of `options` outlive this object.
  explicit OwnersWork(Options options) : options_(std::move(options)) {}

  // Both do nothing if the configuration has no such work, or if it has begun.

  Status StartItems();
  /// `exposures` outlives this object. `topics`: as the start found them.
  Status StartRekeying(Exposures& exposures, const InputTopics& topics);
  /// Waits a moment for what is under way. The work can start again.
  void Stop();

  std::optional<ItemsStatus> items() const;
  /// nullptr: nothing is re-keyed now.
  const Rekeying* rekeying() const { return shown_rekeying_.load(); }

 private:
  void PrepareConfig();

  const Options options_;
  Config config_;  // of items_ and rekeying_
  std::unique_ptr<Items> items_;
  std::unique_ptr<Rekeying> rekeying_;
  // Queries under way may still read what was stopped.
  std::vector<std::unique_ptr<Items>> past_items_;
  std::vector<std::unique_ptr<Rekeying>> past_rekeyings_;
  std::atomic<const Items*> shown_items_{nullptr};
  std::atomic<const Rekeying*> shown_rekeying_{nullptr};
};

/// How many threads read a topic: as configured, or one a processor, and at most one a partition.
int WorkersFor(const Config& config, int32_t partitions);

}  // namespace seen
