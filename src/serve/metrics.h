#pragma once
// The daemon's figures: those that are counted as things happen, and those of its status. Each metric:
// docs/METRICS.md.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "flow/filter_policy.h"
#include "flow/reporter.h"
#include "query/daemon_status.h"

namespace prometheus {
struct MetricFamily;
}

namespace seen {

/// The JSON of /v1/status. Times in ms since the epoch, units in the names. Any thread.
std::string WriteStatus(const DaemonStatus& status);

/// The metrics that are made from the status at each scrape. Any thread.
std::vector<prometheus::MetricFamily> StatusMetrics(const DaemonStatus& status);

/// Memory, CPU, file descriptors and start, under the names that every Prometheus client uses. Figures that
/// /proc doesn't have are left out. Any thread.
std::vector<prometheus::MetricFamily> ProcessMetrics();

struct MetricsOptions {
  std::map<FilterIndex, std::string> filters;  // names, for the `filter` label
  // What the configuration asks for.
  std::map<FilterIndex, SnapshotPolicy> snapshots = {};  // of the filters that publish
  // Get what batches lose. Outlive Metrics. nullptr: nothing watches.
  LossWatch* input_loss = nullptr;
  LossWatch* source_loss = nullptr;
};

/// Counts and logs what happens. Thread-safe. Labels are bounded: partitions, filters, routes, constants;
/// never a user or item id.
class Metrics final : public Reporter {
 public:
  explicit Metrics(const MetricsOptions& options);
  ~Metrics() override;

  /// The page of /metrics, text format 0.0.4: what was counted so far, and gauges made from `status`. The
  /// gauges of a partition that is gone disappear with it.
  std::string Page(const DaemonStatus& status);

  /// For HttpServer::Observer. `route`: a constant of routes.cc.
  void HttpAnswered(std::string_view route, unsigned status, std::chrono::nanoseconds duration);

  void BatchApplied(const BatchReport& report) override;
  void EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) override;
  void EventMisrouted(int32_t partition, int32_t expected_partition, int64_t offset) override;
  void PartitionTimeCorrected(int32_t partition, TimeMs stored, TimeMs now) override;
  void RangeLost(int32_t partition, const LostRange& range) override;
  void CheckpointWritten(int32_t partition, const CheckpointReport& report) override;
  void CheckpointFailed(int32_t partition, const Error& error) override;
  void FlowHeld(int32_t partition, HoldReason reason) override;
  void FlowResumed(int32_t partition, HoldReason reason, std::chrono::milliseconds held) override;
  void SnapshotsSent(FilterIndex filter, uint64_t snapshots, uint64_t bytes) override;
  void SnapshotsAcknowledged(FilterIndex filter, const LatencyCounts& visible_to_published,
                             const LatencyCounts& record_to_published) override;
  void SnapshotsFailed(FilterIndex filter, uint64_t snapshots) override;
  void SnapshotsProbed(FilterIndex filter, const ProbeCounts& counts) override;
  void SnapshotsMerged(FilterIndex filter, uint64_t merged, uint64_t withheld) override;
  void RetiredTombstones(uint64_t sent, uint64_t failed) override;
  void RetiredTopicMissing(std::string_view topic) override;
  void PublishFailed(int32_t partition, PublishStep step, const Error& error) override;
  void LeaseLapsed(int32_t partition) override;
  void ForeignSnapshots(int32_t partition, std::string_view filter, uint64_t snapshots) override;
  void ForeignUpdates(int32_t partition, uint64_t records) override;
  void UpdatesDropped(int32_t partition, uint64_t gaps, std::string_view cause) override;
  void OutputCut(int32_t partition, std::string_view filter) override;
  void SnapshotTooLarge(std::string_view topic) override;
  void DeadLetterDropped() override;
  void NoSpaceAtOpening() override;
  void UserKeyCollision(int32_t partition) override;
  void BatchRekeyed(const RekeyReport& report) override;
  void RekeyingRewound(int32_t partition, int64_t offset) override;
  void RekeyingLost(int32_t partition, const LostRange& range) override;

 private:
  struct Counted;
  std::unique_ptr<Counted> counted_;
};

}  // namespace seen
