#pragma once
// Reads the topics of snapshots and of watermarks from their beginnings on, into a cache.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "seen/watermarks.h"
#include "snapshot_cache.h"

namespace RdKafka {
class KafkaConsumer;
class Message;
}  // namespace RdKafka

namespace seen::client::examples {

/// A thread of its own that reads, from construction to destruction.
class SnapshotTail {
 public:
  struct Topics {
    std::string brokers;
    std::string snapshots;
    std::string watermarks;
  };

  /// `cache` outlives it. nullptr: the topics can't be read; `problem` says why. Partitions that are added
  /// later aren't read.
  static std::unique_ptr<SnapshotTail> Start(const Topics& topics, SnapshotCache& cache,
                                             std::string& problem);
  ~SnapshotTail();

  /// How fresh a snapshot is.
  TimeMs AsOf(const Snapshot& snapshot) const;
  /// How fresh "there is no snapshot of this user" is; nullopt: it can't be told yet.
  std::optional<TimeMs> AsOfNothingSeen() const;

 private:
  SnapshotTail(std::unique_ptr<RdKafka::KafkaConsumer> consumer, Topics topics, int partitions,
               SnapshotCache& cache);

  void Run();
  void Take(RdKafka::Message& message);
  void TakeSnapshot(const RdKafka::Message& message);
  void TakeWatermark(const RdKafka::Message& message);
  void AtEnd(std::int32_t partition);

  const std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
  const Topics topics_;
  const int partitions_;  // of the topic of snapshots, and so of the input
  SnapshotCache& cache_;
  // The thread's own. A watermark counts once what was published before it has been read: at the end of its
  // partition.
  std::map<std::int32_t, bool> at_end_;
  std::map<std::int32_t, Watermark> waiting_;

  mutable std::mutex mutex_;  // of watermarks_
  Watermarks watermarks_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace seen::client::examples
