#pragma once
// Sends groups of items to their compacted topic: idempotent, acks=all, keyed by item id, with Java's
// partitioner.

#include <chrono>
#include <memory>
#include <string>

#include "base/result.h"
#include "kafka/client_settings.h"
#include "similar/port/group_topic.h"

namespace seen {

/// One thread.
class GroupProducer final : public GroupSink {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    std::string decided_by;  // the header of its records: similar/port/group_topic.h
    uint64_t queue_bytes_max = 16 << 20;
    std::chrono::milliseconds linger{50};           // AwaitAll doesn't wait for it
    std::chrono::milliseconds delivery_timeout{0};  // then a record is given up; 0: never
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<GroupProducer>> Open(const Options& options);
  /// Drops what isn't delivered: the log is read again from the last checkpoint.
  ~GroupProducer() override;

  bool TrySend(std::string_view item_id, const ItemGroup* group) override;
  Status AwaitAll(std::chrono::milliseconds patience) override;

 private:
  struct Impl;
  explicit GroupProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
