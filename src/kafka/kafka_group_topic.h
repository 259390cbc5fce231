#pragma once
// The compacted topic of groups of items: its producer, and its reader from given offsets on. Records are
// keyed by item id, with Java's partitioner.

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "kafka/client_settings.h"
#include "kafka/topic_reader.h"
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

class FollowedGroupTopic final : public GroupTopic {
 public:
  /// `from`: as in OpenGroupTopic. kUnavailable: no broker answers, or the topic doesn't exist.
  static Result<std::unique_ptr<GroupTopic>> Open(const TopicReader::Options& options,
                                                  const std::vector<int64_t>& from,
                                                  std::chrono::milliseconds timeout);

  Status Read(const OnWritten& on_written) override;
  const std::vector<int64_t>& next_offsets() const override { return next_offsets_; }
  bool AtEnd(int32_t partition) const override {
    return next_offsets_[static_cast<size_t>(partition)] >= reader_->HighWatermark(partition);
  }

 private:
  FollowedGroupTopic(std::unique_ptr<TopicReader> reader, std::vector<int64_t> from)
      : reader_(std::move(reader)), next_offsets_(std::move(from)) {}

  const std::unique_ptr<TopicReader> reader_;
  std::vector<int64_t> next_offsets_;
};

}  // namespace seen
