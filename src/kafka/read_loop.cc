#include "kafka/read_loop.h"

#include <numeric>

#include "kafka/message_record.h"

namespace seen::kafka {

ReadLoop::ReadLoop(Options options, ClientHandle client)
    : options_(std::move(options)), messages_(options_.batch_records), client_(std::move(client)) {
  rd_kafka_poll_set_consumer(client_.get());
}

ReadLoop::~ReadLoop() {
  queue_.reset();
  rd_kafka_consumer_close(client_.get());
}

Result<std::unique_ptr<ReadLoop>> ReadLoop::Open(Options options) {
  ClientSettings imposed = {
      {"enable.auto.commit", "false"}, {"enable.auto.offset.store", "false"}, {"auto.offset.reset", "error"}};
  for (const auto& [property, value] : options.imposed) imposed[property] = value;
  auto conf = MakeConf(options.brokers,
                       {{"isolation.level", "read_committed"},
                        {"fetch.wait.max.ms", std::to_string(options.fetch_wait.count())}},
                       options.client, imposed);
  if (!conf) return Fail(std::move(conf.error()));
  auto client = MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!client) return Fail(std::move(client.error()));
  return std::unique_ptr<ReadLoop>(new ReadLoop(std::move(options), std::move(*client)));
}

Result<std::vector<Watermarks>> ReadLoop::QueryEnds(std::chrono::milliseconds timeout) const {
  auto metadata = TopicMetadata(client_.get(), options_.topic, timeout);
  if (!metadata) return Fail(std::move(metadata.error()));
  std::vector<int32_t> partitions(static_cast<size_t>((*metadata)->topics[0].partition_cnt));
  std::iota(partitions.begin(), partitions.end(), 0);
  const auto found = kafka::QueryEnds(client_.get(), options_.topic, partitions, timeout);
  if (!found) return Fail(found.error());
  std::vector<Watermarks> ends;
  ends.reserve(found->size());
  for (const auto& [partition, both] : *found) ends.push_back(both);
  return ends;
}

Status ReadLoop::Unassign() {
  if (!queue_) return {};
  const auto error = rd_kafka_assign(client_.get(), nullptr);
  queue_.reset();
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? Status() : FailWith(error, "read " + options_.topic);
}

Status ReadLoop::Assign(std::span<const int64_t> from) {
  batches_.resize(from.size());
  const PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(from.size())));
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i] < 0) continue;
    rd_kafka_topic_partition_list_add(list.get(), options_.topic.c_str(), static_cast<int32_t>(i))->offset =
        from[i];
  }
  if (list->cnt == 0) return {};
  const auto error = rd_kafka_assign(client_.get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return FailWith(error, "read " + options_.topic);
  queue_.reset(rd_kafka_queue_get_consumer(client_.get()));
  return {};
}

Status ReadLoop::Sort(const rd_kafka_message_t& message, const Take& take) {
  // librdkafka asks for the group's coordinator even if nothing is ever committed. So a denied group doesn't
  // matter.
  if (message.err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) return {};
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
    NoteAllowed(access());
  const auto wanted = take(message);
  if (!wanted) return Fail(wanted.error());
  const auto index = static_cast<size_t>(message.partition);
  if (!*wanted || message.partition < 0 || index >= batches_.size()) return {};
  Batch& batch = batches_[index];
  if (!batch.listed) {
    batch.listed = true;
    touched_.push_back(message.partition);
  }
  batch.records.push_back(RecordOf(message));
  if (ReplayNote note; message.payload == nullptr && ReadReplayNote(message, note))
    batch.records.back().replay = &batch.notes.emplace_back(note);
  return {};
}

Status ReadLoop::Poll(std::chrono::milliseconds timeout, const Take& take, const OnRecords& on_records) {
  // The wait ends with the first message (a batch call would wait until the batch is full). Then the poll
  // takes what else is there.
  const MessageHandle first(rd_kafka_consumer_poll(client_.get(), ToTimeout(timeout)));
  if (!first) return {};
  const auto taken =
      queue_ ? rd_kafka_consume_batch_queue(queue_.get(), 0, messages_.data(), messages_.size()) : 0;
  const size_t count = taken > 0 ? static_cast<size_t>(taken) : 0;
  Status done = Sort(*first, take);
  for (size_t i = 0; i < count && done; ++i) done = Sort(*messages_[i], take);
  for (const int32_t partition : touched_) {
    Batch& batch = batches_[static_cast<size_t>(partition)];
    if (done) done = on_records(partition, batch.records);
    batch.records.clear();
    batch.notes.clear();
    batch.listed = false;
  }
  touched_.clear();
  for (size_t i = 0; i < count; ++i) rd_kafka_message_destroy(messages_[i]);
  return done;
}

}  // namespace seen::kafka
