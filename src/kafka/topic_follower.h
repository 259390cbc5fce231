#pragma once
// Follows all partitions of a topic from given offsets on, for ever, without a group and without commits. For
// copies of compacted topics.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"

namespace seen {

/// One thread.
class TopicFollower {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    uint64_t fetch_bytes_max = 16 << 20;  // approximate: librdkafka counts a queue, not what is in flight
  };
  struct Ends {
    int64_t low = 0;
    int64_t high = 0;  // the end at Open
  };
  /// kNotFound: no such topic; kUnavailable: brokers don't answer; kInvalidArgument: settings.
  static Result<std::unique_ptr<TopicFollower>> Open(const Options& options,
                                                     std::chrono::milliseconds timeout);
  ~TopicFollower();
  TopicFollower(const TopicFollower&) = delete;
  TopicFollower& operator=(const TopicFollower&) = delete;

  /// The cluster's id; empty if the brokers don't report it.
  const std::string& cluster() const;
  /// By partition.
  const std::vector<Ends>& ends() const;

  /// Call it once. `from`: where reading begins, by partition.
  Status Start(std::span<const int64_t> from);
  using OnRecords = std::function<Status(int32_t partition, std::span<const Record> records)>;
  /// Waits up to `timeout`, then hands over what there is, in order by partition. Views are valid during the
  /// call. kRefused: offsets are gone, so the topic must be read again. Waits for brokers that don't answer.
  /// If `on_records` fails, returns its error.
  Status Poll(std::chrono::milliseconds timeout, const OnRecords& on_records);
  /// The partition's end, as last reported.
  int64_t HighWatermark(int32_t partition) const;

 private:
  struct Impl;
  explicit TopicFollower(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
