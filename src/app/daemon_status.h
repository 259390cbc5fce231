#pragma once
// What the daemon knows of itself, gathered for /v1/status, /readyz and the gauges.

#include <atomic>
#include <mutex>
#include <optional>
#include <string>

#include "app/partition_set.h"
#include "app/rekeying.h"
#include "config/config.h"
#include "serve/daemon_status.h"

namespace seen {

/// Any thread.
class StatusBoard {
 public:
  StatusBoard(const Config& config, const Clock& clock);

  void SetIdentity(std::string brokers, bool embedded_kafka, std::string instance_id);
  void SetPartitionCount(int32_t partitions);
  /// Why nothing works yet or any more; empty: nothing to say.
  void SetProblem(std::string problem);
  void SetRetention(std::optional<int64_t> retention_ms);
  std::string instance_id() const;

  /// Any of them may be nullptr.
  DaemonStatus Make(const PartitionSet* partitions, const Consumer* consumer, const Rekeying* rekeying) const;

 private:
  PartitionStatus MakePartition(const OpenPartition& open) const;

  const Config& config_;
  const Clock& clock_;
  mutable std::mutex mutex_;
  DaemonStatus base_;                    // mutex_
  std::string problem_;                  // mutex_
  std::optional<int64_t> retention_ms_;  // mutex_
};

}  // namespace seen
