#pragma once
// What re-keying reports of items, as their figures; what it drops is in the dead letters.

#include <array>
#include <atomic>

#include "base/log_budget.h"
#include "flow/reporter.h"

namespace seen {

/// Any thread.
class ItemsRekeyReports final : public Reporter {
 public:
  void BatchRekeyed(const RekeyReport& report) override;
  void EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) override;
  void RekeyingLost(int32_t partition, const LostRange& range) override;
  std::array<uint64_t, kRejectReasons> rejected() const;

  // Re-keying reports nothing else.
  void BatchApplied(const BatchReport&) override {}
  void EventMisrouted(int32_t, int32_t, int64_t) override {}
  void RangeLost(int32_t, const LostRange&) override {}
  void CheckpointWritten(int32_t, const CheckpointReport&) override {}
  void CheckpointFailed(int32_t, const Error&) override {}
  void FlowHeld(int32_t, std::string_view) override {}
  void FlowResumed(int32_t, std::string_view, std::chrono::milliseconds) override {}
  void SnapshotsSent(FilterIndex, uint64_t, uint64_t) override {}
  void SnapshotsAcknowledged(FilterIndex, const LatencyCounts&, const LatencyCounts&) override {}
  void SnapshotsFailed(FilterIndex, uint64_t) override {}
  void UserKeyCollision(int32_t) override {}

 private:
  std::array<std::atomic<uint64_t>, kRejectReasons> rejected_{};
  LogBudget budget_;
};

}  // namespace seen
