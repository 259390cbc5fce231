#include "app/daemon_status.h"

#include "app/version.h"
#include "kafka/client_settings.h"
#include "rocks/version.h"
#include "store/descriptor.h"

namespace seen {

StatusBoard::StatusBoard(const Config& config, const Clock& clock) : config_(config), clock_(clock) {
  base_.version = kVersion;
  base_.librdkafka_version = ClientLibraryVersion();
  base_.rocksdb_version = RocksVersion();
  base_.store_version = kStoreVersion;
  base_.topic = config.input.topic;
  base_.started_at = clock.WallNow();
  problem_ = "starting";
}

void StatusBoard::SetIdentity(std::string brokers, bool embedded_kafka, std::string instance_id) {
  const std::lock_guard lock(mutex_);
  base_.brokers = std::move(brokers);
  base_.embedded_kafka = embedded_kafka;
  base_.instance_id = std::move(instance_id);
}

void StatusBoard::SetPartitionCount(int32_t partitions) {
  const std::lock_guard lock(mutex_);
  base_.partitions_total = partitions;
}

void StatusBoard::SetProblem(std::string problem) {
  const std::lock_guard lock(mutex_);
  problem_ = std::move(problem);
}

void StatusBoard::SetRetention(std::optional<int64_t> retention_ms) {
  const std::lock_guard lock(mutex_);
  retention_ms_ = retention_ms;
}

std::string StatusBoard::instance_id() const {
  const std::lock_guard lock(mutex_);
  return base_.instance_id;
}

PartitionStatus StatusBoard::MakePartition(const OpenPartition& open) const {
  PartitionStatus status = open.flow->GetStatus();
  if (status.state == "ready" && open.AwaitsRekeying()) {
    status.state = "catching_up";
    status.reason = "some of its events are still to be re-keyed";
  }
  const int64_t held_since_ms = open.held_since_ms.load(std::memory_order_relaxed);
  if (open.stopped.load(std::memory_order_acquire)) {
    status.state = "stopped";
    status.reason = open.stop_reason();
  } else if (open.disk_full.load(std::memory_order_acquire)) {
    status.state = "held";
    status.reason = "the disk is full: nothing is consumed until there is space in " +
                    config_.store.directory + (status.reason.empty() ? "" : "; " + status.reason);
  } else if (held_since_ms != 0 && status.state != "held") {
    status.state = "held";
    status.reason =
        "waiting for the store for " + std::to_string(clock_.WallNow().value - held_since_ms) + " ms";
  }
  const std::lock_guard lock(mutex_);
  if (retention_ms_ && status.lag_messages > 0 && status.partition_time.value > 0) {
    // The next unread record is no older than the last one read.
    const int64_t age_ms = clock_.WallNow().value - status.partition_time.value;
    status.retention_headroom_s = static_cast<double>(*retention_ms_ - age_ms) / 1000.0;
  }
  return status;
}

DaemonStatus StatusBoard::Make(const PartitionSet* partitions, const Consumer* consumer,
                               const Rekeying* rekeying) const {
  DaemonStatus status;
  {
    const std::lock_guard lock(mutex_);
    status = base_;
    status.not_ready_reason = problem_;
  }
  if (consumer) status.brokers_reachable = consumer->brokers_reachable();
  if (partitions) {
    for (const PartitionPointer& open : partitions->open().All()) {
      const PartitionStatus& partition = status.partitions.emplace_back(MakePartition(*open));
      if (!status.not_ready_reason.empty()) continue;
      const std::string name = "partition " + std::to_string(partition.partition);
      // A short wait for the store is life; readiness goes with what it leads to: lag, or a full disk.
      const bool short_wait = partition.state == "held" && !open->disk_full.load() && open->CaughtUp();
      if (partition.state != "ready" && !short_wait) {
        status.not_ready_reason = name + " is " + partition.state + ": " + partition.reason;
      } else if (partition.lag_messages > static_cast<int64_t>(config_.http.ready_lag_messages)) {
        status.not_ready_reason = name + " is " + std::to_string(partition.lag_messages) +
                                  " messages behind, more than http.ready_lag_messages = " +
                                  std::to_string(config_.http.ready_lag_messages);
      }
    }
  }
  if (rekeying) {
    status.rekeying = rekeying->GetStatus();
    if (status.not_ready_reason.empty()) status.not_ready_reason = status.rekeying->problem;
  }
  // Asked for after the partitions: those that open meanwhile are not missed.
  if (consumer && consumer->opening() && status.not_ready_reason.empty()) {
    status.not_ready_reason = "partitions are being opened";
  }
  if (status.partitions.empty() && status.not_ready_reason.empty()) {
    status.not_ready_reason = consumer && !consumer->last_problem().empty()
                                  ? consumer->last_problem()
                                  : "no partition is assigned to this instance (yet)";
  }
  status.ready = status.not_ready_reason.empty();
  return status;
}

}  // namespace seen
