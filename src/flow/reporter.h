#pragma once
// One function per occurrence, which both counts it and logs it. Every drop is counted. Implemented by
// serve/metrics.h (prometheus-cpp). Thread-safe; called per batch, not per event.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "flow/log_port.h"
#include "flow/loss_watch.h"
#include "flow/partition_status.h"
#include "model/event.h"

namespace seen {

/// Latencies in milliseconds over fixed buckets, for the hot path. Adding takes no lock. The owner reads them
/// out once per batch. One thread.
class LatencyCounts {
 public:
  /// Upper bounds in ms, inclusive. One more bucket takes all larger latencies.
  static constexpr std::array<int64_t, 22> kBoundsMs = {
      1, 2, 3, 5, 7, 10, 15, 20, 25, 35, 50, 75, 100, 150, 250, 500, 1000, 1200, 2000, 5000, 30'000, 300'000};
  static constexpr size_t kBuckets = kBoundsMs.size() + 1;

  void Add(int64_t latency_ms, uint64_t times = 1) {
    // Successive latencies are similar: the bucket of the last one is nearly always right.
    while (bucket_ < kBoundsMs.size() && latency_ms > kBoundsMs[bucket_]) ++bucket_;
    while (bucket_ > 0 && latency_ms <= kBoundsMs[bucket_ - 1]) --bucket_;
    counts_[bucket_] += times;
    sum_ms_ += latency_ms * static_cast<int64_t>(times);
  }
  const std::array<uint64_t, kBuckets>& counts() const { return counts_; }
  int64_t sum_ms() const { return sum_ms_; }
  void Clear() { *this = {}; }

 private:
  std::array<uint64_t, kBuckets> counts_{};
  int64_t sum_ms_ = 0;
  size_t bucket_ = 0;
};

/// How often published snapshots say "seen" for items that their users have not seen.
struct ProbeCounts {
  uint64_t probes = 0;
  uint64_t false_positives = 0;

  ProbeCounts& operator+=(const ProbeCounts& other) {
    probes += other.probes;
    false_positives += other.false_positives;
    return *this;
  }
};

/// Probes some snapshots with random fingerprints. A user's own 10,000 of 2^32 are among them too rarely to
/// matter. One thread.
class SnapshotSample {
 public:
  static constexpr uint64_t kEvery = 32;   // one snapshot of so many is probed, the first one included
  static constexpr uint32_t kProbes = 64;  // of each probed snapshot

  /// Every kEvery-th snapshot costs its checksum and kProbes look-ups. Tombstones and bytes that aren't a
  /// snapshot add no counts.
  ProbeCounts Add(std::string_view snapshot);

 private:
  uint64_t snapshots_ = 0;
  uint64_t state_ = 0;  // of the random numbers
};

/// The figures of one batch of records of one partition.
struct BatchReport {
  int32_t partition = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;               // of keys and values
  uint64_t events = 0;              // decoded exposures; each item of a batch event counts
  uint64_t removed = 0;             // items taken back
  uint64_t erased = 0;              // users
  uint64_t served = 0;              // items
  uint64_t declared = 0;            // items of kinds that the configuration declares
  uint64_t looked_up = 0;           // items for which similar items were looked up
  uint64_t joined = 0;              // of these, those that something is similar to
  uint64_t replayed = 0;            // events of a history; they have no latency
  uint64_t too_old = 0;             // items beyond every window: dropped
  uint64_t items_without_id = 0;    // skipped: input.items_skip_invalid
  uint64_t items_by_condition = 0;  // skipped: input.items_only_if
  uint64_t misrouted = 0;           // events in another partition than their user's
  uint64_t timestamps_ahead = 0;    // records that are too far ahead of the wall clock to move partition time
  TimeMs timestamp_ahead_max;       // the greatest of these; 0: none
  std::array<uint64_t, kRejectReasons> rejected{};
  std::array<uint64_t, kSkipReasons> skipped{};  // events
  LatencyCounts record_to_visible;               // from the Kafka timestamp
  LatencyCounts exposed_to_visible;              // from exposed_at
  LiveReport live;                               // for LossWatch
};

/// The kinds of work that the publisher does for a partition; each is retried on its own.
enum class PublishStep : uint8_t { kScanMarks, kRepublish, kLastPublished, kUnexposed, kRender };
inline constexpr size_t kPublishSteps = 5;
constexpr std::string_view PublishStepName(PublishStep step) {
  constexpr std::array<std::string_view, kPublishSteps> kNames = {"scan_marks", "republish", "last_published",
                                                                  "unexposed", "render"};
  return kNames[static_cast<size_t>(step)];
}

/// The figures of one batch of records of one source partition on its way to the keyed topic.
struct RekeyReport {
  int32_t partition = 0;
  uint64_t records = 0;
  uint64_t bytes = 0;  // of keys and values
  uint64_t sent = 0;
  std::array<uint64_t, kRejectReasons> rejected{};
  std::array<uint64_t, kSkipReasons> skipped{};
  LiveReport live;  // for LossWatch
};

/// Reports records that can't be decoded, and the re-keying of a source topic.
class RekeyReporter {
 public:
  virtual ~RekeyReporter() = default;
  /// One rejected record, for the log (rate-limited); the report of its batch counts it.
  virtual void EventRejected(const Rejection& rejection, int32_t partition, int64_t offset) = 0;
  /// The dead-letter topic refused a letter even without key and value. The producer logs it.
  virtual void DeadLetterDropped() {}
  virtual void BatchRekeyed(const RekeyReport&) {}
  /// A record wasn't delivered: the source partition is read again from `offset`.
  virtual void RekeyingRewound(int32_t /*partition*/, int64_t /*offset*/) {}
  /// Retention deleted records of a source partition before they were re-keyed.
  virtual void RekeyingLost(int32_t /*partition*/, const LostRange&) {}
};

class Reporter : public RekeyReporter {
 public:
  virtual void BatchApplied(const BatchReport& report) = 0;
  virtual void EventMisrouted(int32_t partition, int32_t expected_partition, int64_t offset) = 0;
  /// The stored partition time was further ahead of the wall clock than any timestamp may be. It continues
  /// from `now`.
  virtual void PartitionTimeCorrected(int32_t /*partition*/, TimeMs /*stored*/, TimeMs /*now*/) {}
  virtual void RangeLost(int32_t partition, const LostRange& range) = 0;
  virtual void CheckpointWritten(int32_t partition, const CheckpointReport& report) = 0;
  virtual void CheckpointFailed(int32_t partition, const Error& error) = 0;
  /// Consumption of `partition` stopped, or continues.
  virtual void FlowHeld(int32_t partition, HoldReason reason) = 0;
  virtual void FlowResumed(int32_t partition, HoldReason reason, std::chrono::milliseconds held) = 0;
  /// For an incomplete filter. `merged`: unions with the last published snapshot. `withheld`: times that the
  /// published snapshot stayed.
  virtual void SnapshotsMerged(FilterIndex /*filter*/, uint64_t /*merged*/, uint64_t /*withheld*/) {}
  /// Summed since the publisher's last report.
  virtual void SnapshotsSent(FilterIndex filter, uint64_t snapshots, uint64_t bytes) = 0;
  virtual void SnapshotsAcknowledged(FilterIndex filter, const LatencyCounts& visible_to_published,
                                     const LatencyCounts& record_to_published) = 0;
  virtual void SnapshotsFailed(FilterIndex filter, uint64_t snapshots) = 0;
  /// Some of the sent snapshots were probed with random fingerprints. Summed likewise.
  virtual void SnapshotsProbed(FilterIndex /*filter*/, const ProbeCounts&) {}
  /// Tombstones of erased users to topics that no filter has any more. Summed likewise.
  virtual void RetiredTombstones(uint64_t /*sent*/, uint64_t /*failed*/) {}
  /// Such a topic doesn't exist: a tombstone for it was dropped.
  virtual void RetiredTopicMissing(std::string_view /*topic*/) {}
  /// The publisher could not read the partition's state. kCorrupt: the partition was stopped. Any other: the
  /// step is retried, and the other steps and partitions go on.
  virtual void PublishFailed(int32_t /*partition*/, PublishStep /*step*/, const Error&) {}
  /// The partition's lease ended while the partition is assigned to this process: nothing is published until
  /// an offset commit succeeds.
  virtual void LeaseLapsed(int32_t /*partition*/) {}
  /// Another process has written `snapshots` snapshots into the partition of the filter's topic. Their users
  /// are republished.
  virtual void ForeignSnapshots(int32_t /*partition*/, std::string_view /*filter*/, uint64_t /*snapshots*/) {}
  /// Another process has written `records` records into the partition of the topic of updates.
  virtual void ForeignUpdates(int32_t /*partition*/, uint64_t /*records*/) {}
  /// Additions were dropped at so many places. `cause`: a clause, of the last one.
  virtual void UpdatesDropped(int32_t /*partition*/, uint64_t /*gaps*/, std::string_view /*cause*/) {}
  /// The partition of the filter's topic was recreated, or lost its end: all users are republished.
  virtual void OutputCut(int32_t /*partition*/, std::string_view /*filter*/) {}
  /// A snapshot is too large for its topic: it was refused, or not tried. The producer logs it.
  virtual void SnapshotTooLarge(std::string_view /*topic*/) {}
  /// The store, or a part of it, can't be opened because its disk is full. It is tried again.
  virtual void NoSpaceAtOpening() {}
  /// A collision: two user ids have one key (never seen by chance). The later user is merged into the earlier
  /// one's filter.
  virtual void UserKeyCollision(int32_t partition) = 0;
};

}  // namespace seen
