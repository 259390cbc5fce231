#pragma once
// Sends the updates of all open partitions: every 20 ms, or less often so that a daemon sends at most
// kRecordsASecond. Beyond that the brokers would acknowledge late. Thread: one, the updates' own.

#include <chrono>
#include <cstdint>
#include <map>
#include <vector>

#include "base/clock.h"
#include "flow/log_port.h"
#include "flow/open_partition.h"
#include "owner/outputs_owner.h"

namespace seen {

class UpdateSender {
 public:
  static constexpr std::chrono::milliseconds kEvery{20};
  static constexpr int kRecordsASecond = 1'200;

  /// All references outlive this. `owner`: nullptr: this group is the owner.
  UpdateSender(const OpenPartitions& partitions, PartitionSink& sink, const OutputsOwner* owner,
               const Clock& clock)
      : partitions_(partitions), sink_(sink), owner_(owner), clock_(clock) {}

  /// Returns when the next step is due.
  std::chrono::milliseconds Step();

 private:
  void SendAll(const OpenPartition& open);
  void TakeDeliveries(const std::vector<PartitionPointer>& opened);

  const OpenPartitions& partitions_;
  PartitionSink& sink_;
  const OutputsOwner* const owner_;
  const Clock& clock_;
  Instant made_at_{};                     // when records were last made
  std::map<int32_t, Instant> failed_at_;  // when the brokers last gave one back, by partition
  size_t under_way_ = 0;
};

}  // namespace seen
