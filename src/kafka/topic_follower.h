#pragma once
// All partitions of a topic from given offsets on, for ever: no group, nothing committed. For copies of
// compacted topics.

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
    uint64_t fetch_bytes_max = 16 << 20;  // about: librdkafka counts a queue, not what is under way
  };
  struct Ends {
    int64_t low = 0;
    int64_t high = 0;  // as it was at Open
  };
  /// kNotFound: no such topic; kUnavailable: brokers away; kInvalidArgument: settings.
  static Result<std::unique_ptr<TopicFollower>> Open(const Options& options,
                                                     std::chrono::milliseconds timeout);
  ~TopicFollower();
  TopicFollower(const TopicFollower&) = delete;
  TopicFollower& operator=(const TopicFollower&) = delete;

  /// Empty where brokers tell none.
  const std::string& cluster() const;
  /// By partition.
  const std::vector<Ends>& ends() const;

  /// Once: where each partition's reading begins.
  Status Start(std::span<const int64_t> from);
  using OnRecords = std::function<Status(int32_t partition, std::span<const Record> records)>;
  /// Waits up to `timeout`, hands over what there is, by partition in order; views last as long as the call.
  /// kRefused: offsets are gone, it must be read anew. Brokers away are waited for. What `on_records` fails
  /// with is returned.
  Status Poll(std::chrono::milliseconds timeout, const OnRecords& on_records);
  /// The partition's end as last heard of.
  int64_t HighWatermark(int32_t partition) const;

 private:
  struct Impl;
  explicit TopicFollower(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
