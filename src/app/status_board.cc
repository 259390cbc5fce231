#include "app/status_board.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "app/exposures.h"
#include "app/loss_watches.h"
#include "flow/partition_flow.h"
#include "kafka/client_settings.h"
#include "rocks/rocks_status.h"
#include "rows/descriptor.h"
#include "topics/rekeying.h"

namespace seen {

StatusBoard::StatusBoard(const Config& config, const LossWatches& losses, const Clock& clock)
    : config_(config), losses_(losses), clock_(clock) {
  base_.version = kVersion;
  base_.librdkafka_version = ClientLibraryVersion();
  base_.rocksdb_version = RocksVersion();
  base_.store_version = kStoreVersion;
  base_.topic = config.input.topic;
  base_.window_days_max = LongestWindowDays(config);
  base_.started_at = clock.WallNow();
  problem_ = "starting";
}

void StatusBoard::SetIdentity(std::string brokers, bool embedded_kafka, std::string instance_id) {
  const MutexLock lock(mutex_);
  base_.brokers = std::move(brokers);
  base_.embedded_kafka = embedded_kafka;
  base_.instance_id = std::move(instance_id);
}

void StatusBoard::SetPartitionCount(int32_t partitions) {
  const MutexLock lock(mutex_);
  base_.partitions_total = partitions;
}

void StatusBoard::SetProblem(std::string problem) {
  const MutexLock lock(mutex_);
  problem_ = std::move(problem);
}

void StatusBoard::SetBrokersAnswer(bool answer) {
  const MutexLock lock(mutex_);
  base_.brokers_reachable = answer;
}

void StatusBoard::SetStateProblem(std::string problem) {
  const MutexLock lock(mutex_);
  base_.state_topic.emplace();
  base_.state_topic->topic = config_.state->topic;
  base_.state_topic->problem = std::move(problem);
}

void StatusBoard::SetTopics(TopicsWatch::Findings found, std::string dead_letters_problem) {
  const MutexLock lock(mutex_);
  base_.dead_letters_problem = std::move(dead_letters_problem);
  retention_ms_ = found.input_retention_ms;
  base_.topics = std::move(found.problems);
}

std::string StatusBoard::instance_id() const {
  const MutexLock lock(mutex_);
  return base_.instance_id;
}

PartitionStatus StatusBoard::MakePartition(const OpenPartition& open) const {
  PartitionStatus status = open.flow->GetStatus();
  if (status.state == "ready" && open.AwaitsRekeying()) {
    status.state = "catching_up";
    status.reason = "some of its events are still to be re-keyed";
  }
  const AsOf as_of = open.flow->state.GetAsOf(clock_.Now());
  status.lag_is_known = as_of.lag_messages.has_value();
  status.age = as_of.age;
  status.answers = open.CaughtUp() && !open.stopped.load(std::memory_order_acquire);
  status.assigned = open.assigned.load(std::memory_order_acquire);
  const int64_t held_since_ms = open.held_since_ms.load(std::memory_order_acquire);
  if (held_since_ms != 0) {
    status.held_by = open.held_reason.load(std::memory_order_relaxed);
    status.held_since = TimeMs{held_since_ms};
  }
  if (open.stopped.load(std::memory_order_acquire)) {
    status.state = "stopped";
    status.reason = open.stop_reason();
  } else if (open.disk_full.load(std::memory_order_acquire)) {
    status.state = "held";
    status.reason = "the disk is full: nothing is consumed until there is space in " +
                    config_.store.directory + (status.reason.empty() ? "" : "; " + status.reason);
  } else if (held_since_ms != 0 && status.state != "held") {
    status.state = "held";
    const std::string_view awaited = status.held_by == HoldReason::kDeadLettersFull ? "dead-letter topic"
                                     : status.held_by == HoldReason::kSchema        ? "schema registry"
                                                                                    : "store";
    status.reason = "waiting for the " + std::string(awaited) + " for " +
                    std::to_string(clock_.WallNow().value - held_since_ms) + " ms";
  }
  if (!status.assigned && status.state != "stopped") {
    status.state = "unassigned";
    status.reason =
        std::string("the group doesn't assign this partition to this daemon now. ") +
        (status.answers ? "Answers come from the state that this daemon holds"
                        : "This daemon hadn't read all of it, so it doesn't answer for its users");
  }
  const MutexLock lock(mutex_);
  if (retention_ms_ && status.lag_messages > 0 && status.partition_time.value > 0) {
    // The next unread record is no older than the last record read.
    const int64_t age_ms = clock_.WallNow().value - status.partition_time.value;
    status.retention_headroom_s = static_cast<double>(*retention_ms_ - age_ms) / 1000.0;
  }
  return status;
}

namespace {
/// `last_problem`: the consumer's.
std::string WhatIsOpened(const std::vector<PartitionProblem>& problems, const std::string& last_problem) {
  const std::string text = "partitions are being opened";
  const auto first = std::find_if(problems.begin(), problems.end(), [](const PartitionProblem& problem) {
    return problem.kind == PartitionProblem::Kind::kOpening;
  });
  const std::string& reason = first == problems.end() ? last_problem : first->reason;
  return reason.empty() ? text : text + ": " + reason;
}

}  // namespace

void StatusBoard::AddPartitions(const Exposures& exposures, DaemonStatus& status) const {
  for (const PartitionPointer& open : exposures.open().All()) {
    status.partitions.push_back(MakePartition(*open));
  }
  for (const PartitionProblem& problem : exposures.Problems()) {
    const auto open = std::find_if(
        status.partitions.begin(), status.partitions.end(),
        [&](const PartitionStatus& partition) { return partition.partition == problem.partition; });
    if (open != status.partitions.end()) {
      if (open->reason.empty()) open->reason = problem.reason;
      continue;
    }
    PartitionStatus partition;
    partition.partition = problem.partition;
    partition.next_offset = -1;  // not known
    partition.state = problem.IsRefused() ? "refused" : "opening";
    partition.reason = problem.reason;
    status.partitions.push_back(std::move(partition));
  }
  std::sort(status.partitions.begin(), status.partitions.end(),
            [](const PartitionStatus& a, const PartitionStatus& b) { return a.partition < b.partition; });
  status.unread.unowned = exposures.consumer().unowned_partitions();
  status.unread.open_transactions = exposures.OpenTransactions();
  for (const PartitionStatus& partition : status.partitions) {
    if (partition.IsRefused()) status.unread.refused.push_back({partition.partition, partition.reason, {}});
  }
}

DaemonStatus StatusBoard::Make(const Exposures* exposures, const Rekeying* rekeying,
                               std::optional<ItemsStatus> items, std::optional<ItemGroupsStatus> item_groups,
                               const StateStreams* state, bool has_peers) const {
  DaemonStatus status;
  {
    const MutexLock lock(mutex_);
    status = base_;
    status.not_ready_reason = problem_;
    status.input_retention_ms = retention_ms_;
  }
  status.missing_acls = MissingAcls();
  const Consumer* const consumer = exposures ? &exposures->consumer() : nullptr;
  if (consumer) status.brokers_reachable = consumer->brokers_reachable();
  if (consumer) status.log_checks = consumer->logs_checked_total();
  if (exposures) AddPartitions(*exposures, status);
  std::vector<std::string> waits;
  if (rekeying) {
    status.rekeying = rekeying->GetStatus();
    for (const RefusedPartition& refused : status.rekeying->unread.refused) {
      // Any user may have events in it.
      waits.push_back("re-keying waits for partition " + std::to_string(refused.partition) + ": " +
                      refused.reason);
    }
    if (!status.rekeying->problem.empty()) waits.push_back(status.rekeying->problem);
  }
  // Read after the partitions, so that a partition that opens in between isn't missed.
  const std::string last_problem = consumer ? consumer->last_problem() : std::string();
  if (consumer && consumer->opening()) {
    waits.push_back(WhatIsOpened(exposures->Problems(), last_problem));
  } else if (status.partitions.empty() && !last_problem.empty()) {
    waits.push_back(last_problem);
  }
  if (state != nullptr) status.state_topic = state->GetStatus();
  status.losses = losses_.Look();
  if (config_.input.format.binary) status.schema_troubles = config_.input.format.binary->Troubles();
  status.items = std::move(items);
  status.item_groups = std::move(item_groups);
  // Before the daemon has joined the group, it may still get partitions.
  status.passes_on = has_peers && consumer && consumer->joined();
  Readiness readiness = JudgeReadiness(status, static_cast<int64_t>(config_.http.ready_lag_messages), waits,
                                       was_ready_.load(std::memory_order_relaxed));
  was_ready_.store(readiness.ready, std::memory_order_relaxed);
  status.ready = readiness.ready;
  status.not_ready_reason = std::move(readiness.reason);
  status.troubles = std::move(readiness.troubles);
  return status;
}

std::vector<MemoryShare> MemoryShares(const MemoryBudget& budget, const StoreResources& resources,
                                      const std::vector<PartitionStatus>& partitions) {
  uint64_t tails = 0, users = 0;
  for (const PartitionStatus& partition : partitions) {
    tails += partition.tail_bytes;
    users += partition.store.delta_cache_bytes;
  }
  std::vector<MemoryShare> shares = {
      {"tails", budget.tails_bytes, tails},
      {"users_read", budget.delta_cache_bytes, users},
      {"block_cache", budget.block_cache_bytes, resources.BlockCacheBytes()},
      {"fetch_queues", budget.fetch_bytes, std::nullopt},
      {"publisher", budget.publish_bytes, std::nullopt},
      {"producer_queues", 2 * budget.producer_bytes, std::nullopt},
      {"file_writers", budget.write_bytes, std::nullopt},
      {"http_bodies", budget.bodies_bytes, std::nullopt},
      {"item_groups", budget.groups_bytes, std::nullopt},
      {"item_presence", budget.presence_bytes, std::nullopt},
      {"state_stream", budget.state_bytes, std::nullopt},
  };
  std::erase_if(shares, [](const MemoryShare& share) { return share.budget_bytes == 0; });
  return shares;
}

std::optional<DiskSpace> DiskSpaceOf(const std::string& folder) {
  std::error_code failed;
  const std::filesystem::space_info space = std::filesystem::space(folder, failed);
  if (failed) return std::nullopt;
  return DiskSpace{space.capacity, space.available};
}

}  // namespace seen
