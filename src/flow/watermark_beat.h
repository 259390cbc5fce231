#pragma once
// Tells readers of the snapshot topics how far the stream has come, once a second a partition, and once it
// answers, so that they can tell a stale topic from a quiet one, and other daemons whom to ask. Records:
// schemas/snapshot.md, "Watermarks".

#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "flow/log_port.h"
#include "flow/open_partition.h"
#include "flow/status.h"

namespace seen {

/// Who publishes.
struct BeatSender {
  std::string group;     // the consumer group
  std::string instance;  // of that group
  std::string address;   // HOST:PORT where it answers over HTTP; empty: it isn't known
  bool is_replica = false;
};

/// A partition's record.
std::string WatermarkText(const PartitionStatus& status, const BeatSender& sender, TimeMs now);

/// The publisher's thread. A beat that can't be sent is left out, and so is one while an earlier one isn't
/// acknowledged, so that brokers that are away don't find an hour's of them in the queue: the next one says
/// more.
class WatermarkBeat {
 public:
  /// Its acknowledgements come with `kTicket`.
  explicit WatermarkBeat(BeatSender sender) : sender_(std::move(sender)) {}
  static constexpr uint64_t kTicket = 0;  // partitions' tags begin above
  static constexpr std::chrono::seconds kEvery{1};

  /// Queues a record for each partition that is open and not stopped, if it is time again, or if it is the
  /// first of a partition that answers or doesn't.
  /// `is_replica`: for daemons alone, into the topic of the cluster.
  void Step(std::span<const PartitionPointer> opened, SnapshotSink& sink, const Clock& clock,
            bool is_replica = false);
  /// One of them is acknowledged, or given up on.
  void Acknowledged() { --outstanding_; }
  size_t outstanding() const { return outstanding_; }
  /// When all are due; none is while some are outstanding.
  Instant NextAt() const { return outstanding_ > 0 ? Instant::max() : last_ + kEvery; }

 private:
  BeatSender sender_;
  size_t outstanding_ = 0;
  Instant last_{};
  std::map<int32_t, bool> told_ready_;  // by partition
};

}  // namespace seen
