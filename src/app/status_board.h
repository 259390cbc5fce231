#pragma once
// Collects what the daemon knows about itself, for /v1/status, /readyz and the gauges.

#include <atomic>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/memory_budget.h"
#include "base/mutex.h"
#include "config/config.h"
#include "query/daemon_status.h"
#include "rocks/resources.h"
#include "topics/topics_watch.h"

namespace seen {

class Exposures;
class LossWatches;
struct OpenPartition;
class Rekeying;
class StateStreams;

/// Any thread.
class StatusBoard {
 public:
  /// All outlive this.
  StatusBoard(const Config& config, const LossWatches& losses, const Clock& clock);

  void SetIdentity(std::string brokers, bool embedded_kafka, std::string instance_id);
  void SetPartitionCount(int32_t partitions);
  /// Why the daemon can't work yet, or any more; empty: no problem.
  void SetProblem(std::string problem);
  /// Before the exposures are read. From then on, their consumer knows.
  void SetBrokersAnswer(bool answer);
  /// Why the configured state topic can't be used.
  void SetStateProblem(std::string problem);
  void SetTopics(TopicsWatch::Findings found, std::string dead_letters_problem);
  std::string instance_id() const;

  /// The pointers may be nullptr. The status says whether the daemon is ready: see JudgeReadiness.
  /// `has_peers`: another daemon answers the requests that this daemon forwards.
  DaemonStatus Make(const Exposures* exposures, const Rekeying* rekeying, std::optional<ItemsStatus> items,
                    std::optional<ItemGroupsStatus> item_groups, const StateStreams* state,
                    bool has_peers) const;

 private:
  PartitionStatus MakePartition(const OpenPartition& open) const;
  void AddPartitions(const Exposures& exposures, DaemonStatus& status) const;

  const Config& config_;
  const LossWatches& losses_;
  const Clock& clock_;
  mutable Mutex mutex_;
  DaemonStatus base_ GUARDED_BY(mutex_);
  std::string problem_ GUARDED_BY(mutex_);
  std::optional<int64_t> retention_ms_ GUARDED_BY(mutex_);
  mutable std::atomic<bool> was_ready_{false};
};

// Memory by share and disk space, for the gauges.

/// Leaves out shares that are empty in this configuration. Any thread.
std::vector<MemoryShare> MemoryShares(const MemoryBudget& budget, const StoreResources& resources,
                                      const std::vector<PartitionStatus>& partitions);

/// nullopt: the folder doesn't exist yet, or the system can't say. One system call. Any thread.
std::optional<DiskSpace> DiskSpaceOf(const std::string& folder);

/// As in CMakeLists.txt, e.g. "0.1.0".
inline constexpr std::string_view kVersion = SEEN_VERSION;
}  // namespace seen
