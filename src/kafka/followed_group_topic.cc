#include "kafka/followed_group_topic.h"

#include <librdkafka/rdkafka.h>

#include "similar/port/group_topic.h"

namespace seen {
namespace {

std::string_view DecidedByOf(const Record& record) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  size_t bytes = 0;
  const auto* const message = static_cast<const rd_kafka_message_t*>(record.message);
  if (rd_kafka_message_headers(message, &headers) != RD_KAFKA_RESP_ERR_NO_ERROR) return {};
  if (rd_kafka_header_get_last(headers, kDecidedByHeader, &value, &bytes) != RD_KAFKA_RESP_ERR_NO_ERROR)
    return {};
  return {static_cast<const char*>(value), bytes};
}

}  // namespace

Result<std::unique_ptr<GroupTopic>> FollowedGroupTopic::Open(const TopicFollower::Options& options,
                                                             const std::vector<int64_t>& from,
                                                             std::chrono::milliseconds timeout) {
  auto follower = TopicFollower::Open(options, timeout);
  if (!follower) return Fail(Code::kUnavailable, follower.error().message);
  const auto& ends = (*follower)->ends();
  std::vector<int64_t> next(ends.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    const bool is_in_log = i < from.size() && from[i] >= ends[i].low && from[i] <= ends[i].high;
    next[i] = from.empty() ? ends[i].high : is_in_log ? from[i] : ends[i].low;
  }
  if (Status started = (*follower)->Start(next); !started) return Fail(std::move(started.error()));
  return std::unique_ptr<GroupTopic>(new FollowedGroupTopic(std::move(*follower), std::move(next)));
}

Status FollowedGroupTopic::Read(const OnWritten& on_written) {
  const auto take = [&](int32_t partition, std::span<const Record> records) -> Status {
    int64_t& next = next_offsets_[static_cast<size_t>(partition)];
    for (const Record& record : records) {
      next = record.offset + 1;
      on_written(
          {partition, record.offset, record.key, record.value, record.value_is_null, DecidedByOf(record)});
    }
    return {};
  };
  return follower_->Poll(std::chrono::milliseconds(0), take);
}

}  // namespace seen
