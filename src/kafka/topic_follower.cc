#include "kafka/topic_follower.h"

#include <algorithm>
#include <cstdlib>

#include "kafka/message_record.h"
#include "kafka/rdkafka_handles.h"

namespace seen {
namespace {

using std::chrono::milliseconds;
constexpr size_t kBatchRecords = 2048;

ClientSettings Imposed(uint64_t fetch_bytes_max) {
  return {{"group.id", "seen-follower"},  // asked for by assign(); nothing is committed, nothing joined
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "error"},
          {"queued.max.messages.kbytes", std::to_string(std::max<uint64_t>(fetch_bytes_max / 1024, 1024))}};
}

}  // namespace

struct TopicFollower::Impl {
  struct Batch {
    std::vector<Record> records;
    bool listed = false;
  };
  Options options;
  std::string cluster;
  std::vector<Ends> ends;
  std::vector<Batch> batches;    // by partition
  std::vector<int32_t> touched;  // of batches
  std::vector<rd_kafka_message_t*> messages = std::vector<rd_kafka_message_t*>(kBatchRecords);
  kafka::ClientHandle client;
  kafka::QueueHandle queue;  // destroyed before the client

  Status FindEnds(milliseconds timeout) {
    auto metadata = kafka::TopicMetadata(client.get(), options.topic, timeout);
    if (!metadata) return Fail(std::move(metadata.error()));
    ends.resize(static_cast<size_t>((*metadata)->topics[0].partition_cnt));
    batches.resize(ends.size());
    for (size_t i = 0; i < ends.size(); ++i) {
      const auto error =
          rd_kafka_query_watermark_offsets(client.get(), options.topic.c_str(), static_cast<int32_t>(i),
                                           &ends[i].low, &ends[i].high, kafka::ToTimeout(timeout));
      if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
        return kafka::FailWith(error, "watermarks of " + options.topic);
      }
    }
    if (char* id = rd_kafka_clusterid(client.get(), kafka::ToTimeout(timeout)); id != nullptr) {
      cluster = id;
      rd_kafka_mem_free(client.get(), id);
    }
    return {};
  }

  Status Take(const rd_kafka_message_t& message) {
    const std::string what = "read " + options.topic;
    if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET ||
        message.err == RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE) {
      return Fail(Code::kRefused, options.topic + "/" + std::to_string(message.partition) +
                                      ": the offset to read next is gone");
    }
    if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
      if (kafka::CodeOf(message.err) == Code::kUnavailable) return {};
      return kafka::FailWith(message.err, what);
    }
    const auto index = static_cast<size_t>(message.partition);
    if (index >= batches.size()) return {};
    if (!batches[index].listed) {
      batches[index].listed = true;
      touched.push_back(message.partition);
    }
    batches[index].records.push_back(kafka::RecordOf(message));
    return {};
  }
};

TopicFollower::TopicFollower(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

TopicFollower::~TopicFollower() {
  impl_->queue.reset();
  if (impl_->client) rd_kafka_consumer_close(impl_->client.get());
}

Result<std::unique_ptr<TopicFollower>> TopicFollower::Open(const Options& options, milliseconds timeout) {
  auto conf =
      kafka::MakeConf(options.brokers, {{"isolation.level", "read_committed"}, {"fetch.wait.max.ms", "100"}},
                      options.client, Imposed(options.fetch_bytes_max));
  if (!conf) return Fail(std::move(conf.error()));
  auto client = kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!client) return Fail(std::move(client.error()));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->client = std::move(*client);
  rd_kafka_poll_set_consumer(impl->client.get());
  std::unique_ptr<TopicFollower> follower(new TopicFollower(std::move(impl)));
  if (Status found = follower->impl_->FindEnds(timeout); !found) return Fail(std::move(found.error()));
  return follower;
}

const std::string& TopicFollower::cluster() const { return impl_->cluster; }
const std::vector<TopicFollower::Ends>& TopicFollower::ends() const { return impl_->ends; }

Status TopicFollower::Start(std::span<const int64_t> from) {
  Impl& impl = *impl_;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(from.size())));
  for (size_t i = 0; i < from.size(); ++i) {
    rd_kafka_topic_partition_list_add(list.get(), impl.options.topic.c_str(), static_cast<int32_t>(i))
        ->offset = from[i];
  }
  const auto error = rd_kafka_assign(impl.client.get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(error, "read " + impl.options.topic);
  impl.queue.reset(rd_kafka_queue_get_consumer(impl.client.get()));
  return {};
}

Status TopicFollower::Poll(milliseconds timeout, const OnRecords& on_records) {
  Impl& impl = *impl_;
  const kafka::MessageHandle first(rd_kafka_consumer_poll(impl.client.get(), kafka::ToTimeout(timeout)));
  if (!first) return {};
  const auto taken =
      rd_kafka_consume_batch_queue(impl.queue.get(), 0, impl.messages.data(), impl.messages.size());
  const size_t count = taken > 0 ? static_cast<size_t>(taken) : 0;
  Status done = impl.Take(*first);
  for (size_t i = 0; i < count && done; ++i) done = impl.Take(*impl.messages[i]);
  for (const int32_t partition : impl.touched) {
    auto& batch = impl.batches[static_cast<size_t>(partition)];
    if (done) done = on_records(partition, batch.records);
    batch.records.clear();
    batch.listed = false;
  }
  impl.touched.clear();
  for (size_t i = 0; i < count; ++i) rd_kafka_message_destroy(impl.messages[i]);
  return done;
}

int64_t TopicFollower::HighWatermark(int32_t partition) const {
  int64_t low = 0, high = -1;
  const auto error = rd_kafka_get_watermark_offsets(impl_->client.get(), impl_->options.topic.c_str(),
                                                    partition, &low, &high);
  const int64_t known = impl_->ends[static_cast<size_t>(partition)].high;
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? std::max(high, known) : known;
}

}  // namespace seen
