#pragma once
// The reporter of a flow that builds state. The reporter keeps totals only.

#include <atomic>
#include <cstdint>

#include "flow/reporter.h"

namespace seen {

/// Any thread.
class BuildTotals final : public Reporter {
 public:
  void EventRejected(const Rejection&, int32_t, int64_t) override {}
  void BatchApplied(const BatchReport& report) override {
    records.fetch_add(report.records, std::memory_order_relaxed);
    items.fetch_add(report.events + report.removed + report.served + report.declared,
                    std::memory_order_relaxed);
  }
  void EventMisrouted(int32_t, int32_t, int64_t) override {}
  void RangeLost(int32_t, const LostRange&) override {}
  void CheckpointWritten(int32_t, const CheckpointReport&) override {}
  void CheckpointFailed(int32_t, const Error&) override {}
  void FlowHeld(int32_t, HoldReason) override {}
  void FlowResumed(int32_t, HoldReason, std::chrono::milliseconds) override {}
  void SnapshotsSent(FilterIndex, uint64_t, uint64_t) override {}
  void SnapshotsAcknowledged(FilterIndex, const LatencyCounts&, const LatencyCounts&) override {}
  void SnapshotsFailed(FilterIndex, uint64_t) override {}
  void UserKeyCollision(int32_t) override {}

  std::atomic<uint64_t> records{0};
  std::atomic<uint64_t> items{0};  // (user, item) pairs
};

}  // namespace seen
