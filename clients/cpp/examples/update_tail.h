#pragma once
// Follows the topics of snapshots, updates and watermarks with a FilterReader: what was shown counts within a
// tenth of a second.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "questions.h"
#include "seen/filter_reader.h"

namespace RdKafka {
class KafkaConsumer;
class Message;
}  // namespace RdKafka

namespace seen::client::examples {

/// A thread of its own that reads, from construction to destruction. It holds the snapshots of all users.
class UpdateTail {
 public:
  struct Topics {
    std::string brokers;
    std::string snapshots;
    std::string watermarks;
    std::string updates;
  };
  struct Found {
    std::vector<std::string> unseen;
    std::optional<TimeMs> as_of;  // nullopt: the reader can't say, or the user's snapshot was refused
  };

  /// nullptr: the topics can't be read; `problem` says why. Partitions that are added later aren't read.
  static std::unique_ptr<UpdateTail> Start(const Topics& topics, const std::string& filter,
                                           std::size_t additions_max, std::string& problem);
  ~UpdateTail();

  /// What is like something seen goes last. Any thread.
  Found Ask(const Question& question) const;

 private:
  UpdateTail(std::unique_ptr<RdKafka::KafkaConsumer> consumer, Topics topics, FilterReader reader,
             int partitions, int watermark_partitions);

  void Run();
  bool ReadWatermarks();
  void Take(const RdKafka::Message& message);
  // Of each: an error says that the record is refused.
  std::optional<Error> TakeBeat(const RdKafka::Message& message);
  std::optional<Error> TakeUpdate(const RdKafka::Message& message);
  std::optional<Error> TakeSnapshot(const RdKafka::Message& message);
  void TakeEnds(std::int32_t watermarks);
  void AskOfSnapshots(std::int32_t partition);
  void Restart(std::int32_t partition);
  void Report(const RdKafka::Message& message, const std::optional<Error>& error) const;

  const std::unique_ptr<RdKafka::KafkaConsumer> consumer_;
  const Topics topics_;
  const int partitions_;            // of the input
  const int watermark_partitions_;  // of the topic of watermarks
  // The thread's own.
  std::map<std::int32_t, std::int64_t> next_watermark_, next_snapshot_;  // offsets
  std::map<std::int32_t, std::int64_t> updates_from_;                    // by the newest beats
  std::map<std::int32_t, std::int64_t> ends_;      // of snapshots, while beats before them may be unread
  std::map<std::int32_t, std::int32_t> beats_in_;  // the partition of watermarks that has a partition's beats
  std::string moved_to_;                           // the other topic that was reported
  bool reads_snapshots_ = false;

  mutable std::shared_mutex mutex_;  // of reader_
  FilterReader reader_;
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace seen::client::examples
