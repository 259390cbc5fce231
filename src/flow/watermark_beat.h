#pragma once
// A beat says how far the stream of a partition has come. It is sent once a second per partition, and at once
// when the partition begins to answer. Readers of the snapshot topics can then distinguish a stale topic from
// a quiet one. Other daemons learn whom to ask. Records: schemas/snapshot.md, "Watermarks".

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "flow/log_port.h"
#include "flow/open_partition.h"
#include "flow/partition_status.h"

namespace seen {

/// Who publishes.
struct BeatSender {
  std::string group;     // the consumer group
  std::string instance;  // a member of that group
  std::string address;   // HOST:PORT where it answers over HTTP; empty: it isn't known
  bool is_replica = false;
};

/// The value of a partition's record.
std::string WatermarkText(const PartitionStatus& status, const BeatSender& sender, TimeMs now);

/// Publisher thread. A beat that can't be sent is left out. While an earlier beat isn't acknowledged, new
/// ones are left out, too. Otherwise brokers that come back would find an hour of beats in the queue. The
/// next beat says more anyway.
class WatermarkBeat {
 public:
  /// Its acknowledgements come with `kTicket`.
  explicit WatermarkBeat(BeatSender sender) : sender_(std::move(sender)) {}
  static constexpr uint64_t kTicket = 0;  // partitions' tags begin above
  static constexpr std::chrono::seconds kEvery{1};

  /// Queues a record for each partition that is open and not stopped, if a second has passed since the last
  /// ones. Queues one at once if the partition begins or ceases to answer. `is_replica`: for daemons alone,
  /// into the topic of the cluster.
  void Step(std::span<const PartitionPointer> opened, SnapshotSink& sink, const Clock& clock,
            bool is_replica = false);
  /// A beat is acknowledged, or the producer gave up on it.
  void Acknowledged() { --outstanding_; }
  size_t outstanding() const { return outstanding_; }
  /// When all beats are due. None is due while some are outstanding.
  Instant NextAt() const { return outstanding_ > 0 ? Instant::max() : last_ + kEvery; }

 private:
  BeatSender sender_;
  size_t outstanding_ = 0;
  Instant last_{};
  std::map<int32_t, bool> told_ready_;  // what the last beat said, by partition
};

}  // namespace seen
