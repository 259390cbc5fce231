#pragma once
// Sends the beats (owner/beat.h): once a second for each partition, and at once when the partition begins to
// answer.

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <utility>

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
  /// Its acknowledgements come with `kTicket`. `guard` outlives this; nullptr: nobody knows where the
  /// snapshot topics end.
  explicit WatermarkBeat(BeatSender sender, const OutputGuard* guard = nullptr)
      : sender_(std::move(sender)), guard_(guard) {}
  static constexpr uint64_t kTicket = 0;  // partitions' tags begin above
  static constexpr std::chrono::seconds kEvery{1};

  /// Queues a record for each partition that is open and not stopped, if a second has passed since the last
  /// ones. Queues one at once if the partition begins or ceases to answer, or to republish all users.
  /// `is_replica`: for daemons alone, into the topic of the cluster.
  void Step(std::span<const PartitionPointer> opened, SnapshotSink& sink, const Clock& clock,
            bool is_replica = false);
  /// A beat is acknowledged, or the producer gave up on it.
  void Acknowledged() { --outstanding_; }
  size_t outstanding() const { return outstanding_; }
  /// When all beats are due. None is due while some are outstanding.
  Instant NextAt() const { return outstanding_ > 0 ? Instant::max() : last_ + kEvery; }

 private:
  void AddBase(const OpenPartition& open, TimeMs wall, Beat& beat) const;

  BeatSender sender_;
  const OutputGuard* const guard_;
  size_t outstanding_ = 0;
  Instant last_{};
  /// What a beat says at once.
  struct Told {
    bool ready, republishing;
    friend bool operator==(const Told&, const Told&) = default;
  };
  std::map<int32_t, Told> told_;  // by the last beat, by partition
};

}  // namespace seen
