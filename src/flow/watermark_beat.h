#pragma once
// Sends the beats (owner/beat.h): once a second for each partition, and at once when the partition begins to
// answer.

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "flow/log_port.h"
#include "flow/open_partition.h"
#include "flow/partition_status.h"
#include "owner/beat.h"
#include "owner/output_guard.h"

namespace seen {

/// Publisher thread. A beat that can't be sent is left out. While an earlier beat isn't acknowledged, new
/// ones are left out, too. Otherwise brokers that come back would find an hour of beats in the queue. The
/// next beat says more anyway.
class WatermarkBeat {
 public:
  /// Its acknowledgements come with `kTicket`. `guard` outlives this, and learns which beats arrived;
  /// nullptr: nobody knows where the snapshot topics end.
  explicit WatermarkBeat(BeatSender sender, OutputGuard* guard = nullptr)
      : sender_(std::move(sender)), guard_(guard) {}
  static constexpr uint64_t kTicket = 0;  // partitions' tags begin above
  static constexpr std::chrono::seconds kEvery{1};

  /// Queues a record for each partition that is open and not stopped, if a second has passed since the last
  /// ones. Queues one at once if the partition begins or ceases to answer, or to republish all users, and if
  /// the process has come to own it.
  /// `is_replica`: for daemons alone, into the topic of the cluster.
  void Step(std::span<const PartitionPointer> opened, SnapshotSink& sink, const Clock& clock,
            bool is_replica = false);
  /// `delivered`: false: the producer gave up on the beat.
  void Acknowledged(bool delivered);
  size_t outstanding() const { return outstanding_; }
  /// When all beats are due. None is due while some are outstanding.
  Instant NextAt() const { return outstanding_ > 0 ? Instant::max() : last_ + kEvery; }

 private:
  void AddBase(const OpenPartition& open, TimeMs wall, Beat& beat) const;
  bool IsRepublishing(const OpenPartition& open) const;

  BeatSender sender_;
  OutputGuard* const guard_;
  size_t outstanding_ = 0;
  // Of the beats that are outstanding together: the partitions and their ownership; empty if one failed.
  std::vector<std::pair<int32_t, uint64_t>> sent_;
  Instant last_{};
  /// What a beat says at once.
  struct Told {
    bool ready, republishing;
    uint64_t ownership;  // OutputGuard::Ownership
    friend bool operator==(const Told&, const Told&) = default;
  };
  std::map<int32_t, Told> told_;  // by the last beat, by partition
};

}  // namespace seen
