#pragma once
// Follows the topic of groups from given offsets on.

#include <chrono>
#include <memory>
#include <vector>

#include "kafka/topic_follower.h"
#include "similar/port/group_topic.h"

namespace seen {

class FollowedGroupTopic final : public GroupTopic {
 public:
  /// `from`: as in OpenGroupTopic. kUnavailable: no broker answers, or the topic doesn't exist.
  static Result<std::unique_ptr<GroupTopic>> Open(const TopicFollower::Options& options,
                                                  const std::vector<int64_t>& from,
                                                  std::chrono::milliseconds timeout);

  Status Read(const OnWritten& on_written) override;
  const std::vector<int64_t>& next_offsets() const override { return next_offsets_; }
  bool AtEnd(int32_t partition) const override {
    return next_offsets_[static_cast<size_t>(partition)] >= follower_->HighWatermark(partition);
  }

 private:
  FollowedGroupTopic(std::unique_ptr<TopicFollower> follower, std::vector<int64_t> from)
      : follower_(std::move(follower)), next_offsets_(std::move(from)) {}

  const std::unique_ptr<TopicFollower> follower_;
  std::vector<int64_t> next_offsets_;
};

}  // namespace seen
