#include "kafka/group_producer.h"

#include <algorithm>

#include "base/log.h"
#include "kafka/producing.h"
#include "similar/port/group_topic.h"
#include "similar/port/item_group.h"

namespace seen {
namespace {
using std::chrono::milliseconds;
constexpr milliseconds kSlice{50};
constexpr int kSendsBetweenPolls = 64;
}  // namespace

struct GroupProducer::Impl {
  Options options;
  kafka::ClientHandle client;
  kafka::TopicHandle topic;  // destroyed before the client
  std::string value;
  int until_poll = kSendsBetweenPolls;
  std::string failure;  // about a record that was given up

  void OnDelivery(const rd_kafka_message_t& message) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) kafka::NoteAllowed(kafka::WriteTo(options.topic));
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

GroupProducer::~GroupProducer() {
  rd_kafka_purge(impl_->client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(impl_->client.get(), 200);
}

Result<std::unique_ptr<GroupProducer>> GroupProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  auto made =
      kafka::OpenTopicProducer({options.brokers,
                                options.client,
                                {options.queue_bytes_max, options.linger},
                                {},
                                {{"message.timeout.ms", std::to_string(options.delivery_timeout.count())}},
                                impl.get(),
                                [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
                                  static_cast<Impl*>(opaque)->OnDelivery(*message);
                                }},
                               options.topic, Partitioner::kMurmur2);
  if (!made) return Fail(std::move(made.error()));
  impl->client = std::move(made->client);
  impl->topic = std::move(made->topic);
  return std::unique_ptr<GroupProducer>(new GroupProducer(std::move(impl)));
}

bool GroupProducer::TrySend(std::string_view item_id, const ItemGroup* group) {
  Impl& impl = *impl_;
  impl.value.clear();
  if (group != nullptr) WriteItemGroup(*group, impl.value);
  void* const value = group != nullptr ? impl.value.data() : nullptr;
  const std::string& decided_by = impl.options.decided_by;
  const auto error = rd_kafka_producev(
      impl.client.get(), RD_KAFKA_V_RKT(impl.topic.get()), RD_KAFKA_V_PARTITION(RD_KAFKA_PARTITION_UA),
      RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(item_id.data(), item_id.size()),
      RD_KAFKA_V_VALUE(value, impl.value.size()),
      RD_KAFKA_V_HEADER(kDecidedByHeader, decided_by.data(), static_cast<ssize_t>(decided_by.size())),
      RD_KAFKA_V_END);
  const bool taken = error == RD_KAFKA_RESP_ERR_NO_ERROR;
  if (!taken && error != RD_KAFKA_RESP_ERR__QUEUE_FULL && impl.failure.empty())
    impl.failure = kafka::Explain(error, kafka::WriteTo(impl.options.topic));
  if (--impl.until_poll <= 0 || !taken) {
    impl.until_poll = kSendsBetweenPolls;
    rd_kafka_poll(impl.client.get(), 0);
  }
  return taken;
}

Status GroupProducer::AwaitAll(milliseconds patience) {
  Impl& impl = *impl_;
  const auto began = std::chrono::steady_clock::now();
  for (;;) {
    const bool arrived = rd_kafka_flush(impl.client.get(), kafka::ToTimeout(std::min(patience, kSlice))) ==
                         RD_KAFKA_RESP_ERR_NO_ERROR;
    if (auto health = kafka::ProducerHealth(impl.client.get()); !health) {
      return Fail(Code::kCorrupt, health.error().message);
    }
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

}  // namespace seen
