#include "kafka/reader.h"

#include <algorithm>

#include "kafka/message_record.h"
#include "kafka/rdkafka_handles.h"

namespace seen {
namespace {

using std::chrono::milliseconds;
constexpr size_t kBatchRecords = 4096;

ClientSettings ReaderImposed() {
  return {{"group.id", "seen-reader"},  // asked for by assign(); nothing is committed, nothing joined
          {"enable.auto.commit", "false"},
          {"enable.auto.offset.store", "false"},
          {"auto.offset.reset", "error"},
          {"enable.partition.eof", "true"},
          {"queued.max.messages.kbytes", "65536"},
          {"queued.min.messages", "200000"}};
}

/// The first offset at or after `time`, the end if there is none. kUnavailable, e.g. of the embedded broker.
Status OffsetsForTime(rd_kafka_t* client, const std::string& topic, TimeMs time, milliseconds timeout,
                      std::map<int32_t, int64_t>& offsets) {
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& [partition, unused] : offsets) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = time.value;
  }
  const auto error = rd_kafka_offsets_for_times(client, list.get(), kafka::ToTimeout(timeout));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(error, "offsets of " + topic + " by time");
  for (int i = 0; i < list->cnt; ++i) {
    const auto& entry = list->elems[i];
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return kafka::FailWith(entry.err, "offsets of " + topic + " by time");
    if (entry.offset >= 0)
      offsets[entry.partition] = entry.offset;  // RD_KAFKA_OFFSET_END where none is so late
  }
  return {};
}

}  // namespace

struct PartitionReader::Impl {
  struct State {
    bool done = false;
    int64_t next = 0;
    std::vector<Record> records;
    bool in_batch = false;
  };

  Options options;
  std::vector<Range> ranges;  // index: partition
  std::vector<State> states;
  std::vector<int32_t> batch;
  std::vector<rd_kafka_message_t*> messages = std::vector<rd_kafka_message_t*>(kBatchRecords);
  kafka::ClientHandle client;
  kafka::QueueHandle queue;  // destroyed before the client

  Status FindRanges(milliseconds timeout);
  Status Assign();
  Status Sort(const rd_kafka_message_t& message);
  bool Done() const {
    return std::all_of(states.begin(), states.end(), [](const State& state) { return state.done; });
  }
};

Status PartitionReader::Impl::FindRanges(milliseconds timeout) {
  auto metadata = kafka::TopicMetadata(client.get(), options.topic, timeout);
  if (!metadata) return Fail(std::move(metadata.error()));
  const int32_t count = (*metadata)->topics[0].partition_cnt;
  std::map<int32_t, int64_t> lows, starts, ends;
  for (int32_t partition = 0; partition < count; ++partition) {
    int64_t low = 0, high = 0;
    const auto error = rd_kafka_query_watermark_offsets(client.get(), options.topic.c_str(), partition, &low,
                                                        &high, kafka::ToTimeout(timeout));
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(error, "watermarks of " + options.topic);
    lows[partition] = low;
    starts[partition] = options.from_time ? high : low;
    ends[partition] = high;
  }
  if (options.from_time) {
    if (auto found = OffsetsForTime(client.get(), options.topic, *options.from_time, timeout, starts);
        !found) {
      return found;
    }
  }
  if (options.to_time) {
    if (auto found = OffsetsForTime(client.get(), options.topic, *options.to_time, timeout, ends); !found) {
      return found;
    }
  }
  for (const auto& [partition, offset] : options.from_offsets) {
    if (partition < 0 || partition >= count) {
      return Fail(Code::kInvalidArgument, options.topic + " has no partition " + std::to_string(partition));
    }
    if (offset < lows[partition]) {
      return Fail(Code::kUnavailable, options.topic + "/" + std::to_string(partition) + ": offset " +
                                          std::to_string(offset) + " is gone, the earliest is " +
                                          std::to_string(lows[partition]));
    }
    starts[partition] = offset;
  }
  for (int32_t partition = 0; partition < count; ++partition) {
    const int64_t from = starts[partition];
    ranges.push_back({partition, from, std::max(from, ends[partition])});
    states.push_back({from >= ends[partition], from, {}, false});
  }
  return {};
}

Status PartitionReader::Impl::Assign() {
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(ranges.size())));
  for (const auto& range : ranges) {
    if (states[static_cast<size_t>(range.partition)].done) continue;
    rd_kafka_topic_partition_list_add(list.get(), options.topic.c_str(), range.partition)->offset =
        range.from;
  }
  if (list->cnt == 0) return {};
  const auto error = rd_kafka_assign(client.get(), list.get());
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(error, "read " + options.topic);
  queue.reset(rd_kafka_queue_get_consumer(client.get()));
  return {};
}

Status PartitionReader::Impl::Sort(const rd_kafka_message_t& message) {
  const auto index = static_cast<size_t>(message.partition);
  if (message.partition < 0 || index >= states.size()) {
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) return {};
    // Of the client as a whole. Brokers away are waited for.
    return kafka::CodeOf(message.err) == Code::kUnavailable
               ? Status()
               : Status(kafka::FailWith(message.err, "read " + options.topic));
  }
  auto& state = states[index];
  const auto& range = ranges[index];
  if (state.done) return {};
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (message.offset >= range.to) state.done = true;  // the last offsets are gaps
    return {};
  }
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
      return Fail(Code::kUnavailable, options.topic + "/" + std::to_string(message.partition) + ": offset " +
                                          std::to_string(state.next) +
                                          " is gone: retention overtook the reader");
    }
    return kafka::FailWith(message.err, "read " + options.topic + "/" + std::to_string(message.partition));
  }
  if (message.offset < state.next) return {};
  if (message.offset < range.to) {
    if (!state.in_batch) {
      state.in_batch = true;
      batch.push_back(message.partition);
    }
    state.records.push_back(kafka::RecordOf(message));
  }
  state.next = message.offset + 1;
  if (state.next >= range.to) state.done = true;
  return {};
}

PartitionReader::PartitionReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

PartitionReader::~PartitionReader() {
  impl_->queue.reset();
  if (impl_->client) rd_kafka_consumer_close(impl_->client.get());
}

Result<std::unique_ptr<PartitionReader>> PartitionReader::Open(const Options& options, milliseconds timeout) {
  auto conf =
      kafka::MakeConf(options.brokers, {{"isolation.level", "read_committed"}, {"fetch.wait.max.ms", "100"}},
                      options.client, ReaderImposed());
  if (!conf) return Fail(std::move(conf.error()));
  auto client = kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
  if (!client) return Fail(std::move(client.error()));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->client = std::move(*client);
  rd_kafka_poll_set_consumer(impl->client.get());
  std::unique_ptr<PartitionReader> reader(new PartitionReader(std::move(impl)));
  if (auto found = reader->impl_->FindRanges(timeout); !found) return Fail(std::move(found.error()));
  if (auto assigned = reader->impl_->Assign(); !assigned) return Fail(std::move(assigned.error()));
  return reader;
}

const std::vector<PartitionReader::Range>& PartitionReader::ranges() const { return impl_->ranges; }

Result<bool> PartitionReader::Poll(milliseconds timeout, const OnRecords& on_records) {
  auto& impl = *impl_;
  if (impl.Done()) return false;
  // One message ends the wait (a batch call would wait until the batch is full), then what else is there.
  const kafka::MessageHandle first(rd_kafka_consumer_poll(impl.client.get(), kafka::ToTimeout(timeout)));
  if (!first) return true;
  const auto taken =
      rd_kafka_consume_batch_queue(impl.queue.get(), 0, impl.messages.data(), impl.messages.size());
  const size_t count = taken > 0 ? static_cast<size_t>(taken) : 0;
  Status sorted = impl.Sort(*first);
  for (size_t i = 0; i < count && sorted; ++i) sorted = impl.Sort(*impl.messages[i]);
  for (const int32_t partition : impl.batch) {
    auto& state = impl.states[static_cast<size_t>(partition)];
    if (sorted) on_records(partition, state.records);
    state.records.clear();
    state.in_batch = false;
  }
  impl.batch.clear();
  for (size_t i = 0; i < count; ++i) rd_kafka_message_destroy(impl.messages[i]);
  if (!sorted) return Fail(std::move(sorted.error()));
  return !impl.Done();
}

uint64_t PartitionReader::records_remaining() const {
  uint64_t remaining = 0;
  for (size_t i = 0; i < impl_->ranges.size(); ++i) {
    const int64_t left = impl_->ranges[i].to - impl_->states[i].next;
    if (!impl_->states[i].done && left > 0) remaining += static_cast<uint64_t>(left);
  }
  return remaining;
}

}  // namespace seen
