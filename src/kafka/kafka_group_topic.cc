#include "kafka/kafka_group_topic.h"

#include <algorithm>

#include "base/log.h"
#include "kafka/producer.h"
#include "similar/port/item_group.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kGroupTopicSlice{50};
constexpr int kSendsBetweenPolls = 64;
}  // namespace

struct GroupProducer::Impl {
  explicit Impl(const Options& given)
      : options(given),
        producer({.name = "producer of groups",
                  .brokers = given.brokers,
                  .client = given.client,
                  .topics = {given.topic},
                  .queue_bytes_max = given.queue_bytes_max,
                  .linger = given.linger,
                  .imposed = {{"message.timeout.ms", std::to_string(given.delivery_timeout.count())}},
                  .on_delivery = [this](const rd_kafka_message_t& message) { OnDelivery(message); }}) {}

  Options options;
  std::string value;
  int until_poll = kSendsBetweenPolls;
  std::string failure;  // about a record that was given up
  kafka::Producer producer;

  void OnDelivery(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || message.err == RD_KAFKA_RESP_ERR__PURGE_QUEUE ||
        message.err == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) {
      return;
    }
    if (failure.empty()) failure = kafka::Explain(message.err, kafka::WriteTo(options.topic));
    if (kafka::MayLog("group not delivered")) {
      log::Warning(
          "group of an item not delivered; items since the last checkpoint are read again",
          {{"topic", options.topic}, {"bytes", message.len}, {"error", rd_kafka_err2str(message.err)}});
    }
  }
};

GroupProducer::GroupProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
GroupProducer::~GroupProducer() = default;

Result<std::unique_ptr<GroupProducer>> GroupProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
  return std::unique_ptr<GroupProducer>(new GroupProducer(std::move(impl)));
}

bool GroupProducer::TrySend(std::string_view item_id, const ItemGroup* group) {
  Impl& impl = *impl_;
  impl.value.clear();
  if (group != nullptr) WriteItemGroup(*group, impl.value);
  kafka::HeadersHandle headers(rd_kafka_headers_new(1));
  kafka::SetHeader(headers.get(), kDecidedByHeader, impl.options.decided_by);
  const auto error =
      impl.producer.Produce({.key = item_id,
                             .value = group != nullptr ? std::string_view(impl.value) : std::string_view(),
                             .headers = &headers});
  const bool taken = error == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (!taken && error != RD_KAFKA_RESP_ERR__QUEUE_FULL && impl.failure.empty())
    impl.failure = kafka::Explain(error, kafka::WriteTo(impl.options.topic));
  if (--impl.until_poll <= 0 || !taken) {
    impl.until_poll = kSendsBetweenPolls;
    impl.producer.Poll(milliseconds(0));
  }
  return taken;
}

Status GroupProducer::AwaitAll(milliseconds patience) {
  Impl& impl = *impl_;
  const auto began = std::chrono::steady_clock::now();
  for (;;) {
    const bool arrived = impl.producer.Flush(std::min(patience, kGroupTopicSlice));
    if (Status health = impl.producer.Health(); !health) return Fail(Code::kCorrupt, health.error().message);
    if (!impl.failure.empty()) {
      return Fail(Code::kCorrupt, "topic \"" + impl.options.topic + "\": " + impl.failure);
    }
    if (arrived) return {};
    if (std::chrono::steady_clock::now() - began >= patience) {
      return Fail(Code::kUnavailable,
                  "topic \"" + impl.options.topic + "\" hasn't acknowledged all groups of items");
    }
  }
}

Result<std::unique_ptr<GroupTopic>> FollowedGroupTopic::Open(const TopicReader::Options& options,
                                                             const std::vector<int64_t>& from,
                                                             milliseconds timeout) {
  auto reader = TopicReader::OpenToFollow(options, timeout);
  if (!reader) return Fail(Code::kUnavailable, reader.error().message);
  const auto& ends = (*reader)->ends();
  std::vector<int64_t> next(ends.size());
  for (size_t i = 0; i < ends.size(); ++i) {
    const bool is_in_log = i < from.size() && from[i] >= ends[i].low && from[i] <= ends[i].high;
    next[i] = from.empty() ? ends[i].high : is_in_log ? from[i] : ends[i].low;
  }
  if (Status started = (*reader)->FollowFrom(next); !started) return Fail(std::move(started.error()));
  return std::unique_ptr<GroupTopic>(new FollowedGroupTopic(std::move(*reader), std::move(next)));
}

Status FollowedGroupTopic::Read(const OnWritten& on_written) {
  const auto polled = reader_->Poll(milliseconds(0), [&](int32_t partition, std::span<const Record> records) {
    int64_t& next = next_offsets_[static_cast<size_t>(partition)];
    for (const Record& record : records) {
      next = record.offset + 1;
      on_written({partition, record.offset, record.key, record.value, record.value_is_null,
                  HeaderOf(record, kDecidedByHeader).value_or(std::string_view())});
    }
  });
  return polled ? Status() : Fail(polled.error());
}

}  // namespace seen
