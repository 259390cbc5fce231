#pragma once
// Builds one partition's state from its history: the daemon's flow, over a store that collects.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>

#include "base/clock.h"
#include "bulk_load/sorted_runs.h"
#include "flow/log_port.h"
#include "flow/partition_flow.h"
#include "flow/reporter.h"
#include "flow/store_port.h"
#include "rows/row_batch.h"

namespace seen {

// The reporter of a flow that builds state. The reporter keeps totals only.

/// Any thread.
class BuildTotals final : public Reporter {
 public:
  void EventRejected(const Rejection& rejection, int32_t, int64_t) override {
    rejected.fetch_add(1, std::memory_order_relaxed);
    if (rejection.reason == RejectReason::kUnknownSchema)
      unknown_schema.fetch_add(1, std::memory_order_relaxed);
  }
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
  std::atomic<uint64_t> rejected{0};
  std::atomic<uint64_t> unknown_schema{0};  // of the rejected
  std::atomic<uint64_t> items{0};           // (user, item) pairs
};

// A store that keeps nothing: a callback collects the rows that checkpoints write. A flow on this store has
// no past. So its rows are changes onto an empty state.

/// One thread.
class ChangeCollector final : public PartitionStore {
 public:
  using OnChanges = std::function<void(RowBatch changes)>;
  explicit ChangeCollector(OnChanges on_changes) : on_changes_(std::move(on_changes)) {}

  /// The position of the last checkpoint.
  const Position& position() const { return position_; }
  /// The filter's horizon as of the last checkpoint: which of its bytes have expired.
  Horizon HorizonOf(FilterId filter) const;

  Result<std::optional<Position>> ReadPosition() const override { return std::optional<Position>(); }
  Result<std::unique_ptr<CheckpointWriter>> BeginCheckpoint(const Position& position) override;
  Result<bool> ReadDelta(const UserRef&, std::string& out) const override {
    out.clear();
    return false;
  }
  Result<std::optional<Mark>> ReadMark(const UserRef&) const override { return std::optional<Mark>(); }
  Result<std::vector<Mark>> ScanMarks(const std::optional<UserRef>&, size_t) const override {
    return std::vector<Mark>();
  }
  Result<std::vector<Ending>> ScanEndings(const std::optional<Ending>&, uint32_t, size_t) const override {
    return std::vector<Ending>();
  }
  Result<std::optional<UserRef>> ScanUsers(const std::optional<UserRef>&, size_t,
                                           const VisitUser&) const override {
    return std::optional<UserRef>();
  }
  Result<ServedPage> ScanServed(const std::optional<ServedRow>&, uint32_t, size_t) const override {
    return ServedPage();
  }
  Result<std::string> ReadSweep() const override { return std::string(); }
  void SetHorizon(FilterId filter, const Horizon& horizon) override { horizons_[filter] = horizon; }
  Status KeepPublished(std::span<const PublishedRow>) override { return {}; }
  Status ReadPublished(std::span<const UserRef>, std::span<PublishedRow>) const override { return {}; }
  Result<std::vector<PublishedRow>> ScanPublished(const std::optional<UserRef>&, size_t) const override {
    return std::vector<PublishedRow>();
  }
  uint32_t Level0Files() const override { return 0; }
  StoreFigures Figures() const override { return {}; }

 private:
  class Writer;
  const OnChanges on_changes_;
  Position position_;
  std::map<FilterId, Horizon> horizons_;
};

/// One thread at a time.
class PartitionBuilder {
 public:
  /// `folder`: for files of sorted rows. `from`: at most the first record's offset. Dead letters are
  /// forgotten. The references outlive this object.
  PartitionBuilder(PartitionOptions options, StoredLimits limits, const std::string& folder, int64_t from,
                   Reporter& reporter, const Clock& clock);

  /// Records in the log's order.
  Status Apply(std::span<const Record> records);
  /// Turns the tail into rows.
  Status Checkpoint();

  SortedRuns& runs() { return runs_; }
  int64_t next_offset() const { return flow_.state.next_offset(); }
  /// The position of the last checkpoint.
  const Position& position() const { return collector_.position(); }
  Horizon HorizonOf(FilterId filter) const { return collector_.HorizonOf(filter); }

 private:
  class NoLetters final : public DeadLetterSink {
   public:
    bool TrySend(const DeadLetter&) override { return true; }
    int64_t OldestUnacknowledged(int32_t) const override { return -1; }
    void Forget(int32_t) override {}
  };
  SortedRuns runs_;
  ChangeCollector collector_;
  NoLetters letters_;
  PartitionFlow flow_;
};

}  // namespace seen
