#include "kafka/topic_reader.h"

#include <algorithm>
#include <deque>
#include <numeric>
#include <utility>

#include "kafka/message_record.h"
#include "kafka/rdkafka_handles.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFollowerFetchWait{500};  // it asks nothing once it reads, so no question waits

constexpr size_t kBatchRecords = 4096;

}  // namespace

std::optional<std::string_view> HeaderOf(const Record& record, const char* name) {
  if (record.message == nullptr) return std::nullopt;
  return kafka::HeaderOf(*static_cast<const rd_kafka_message_t*>(record.message), name);
}

struct TopicReader::Impl {
  /// Of a partition.
  struct State {
    int64_t next = 0;
    int64_t to = 0;
    bool done = true;
    std::vector<Record> records;   // of this poll
    std::deque<ReplayNote> notes;  // of its records without a value
  };

  Impl(const Options& given, kafka::ClientHandle made)
      : options(given), messages(kBatchRecords), client(std::move(made)) {}

  Options options;
  std::vector<Watermarks> ends;
  std::vector<Range> ranges;
  std::vector<State> states;     // index: partition
  size_t reading = 0;            // states that aren't done
  std::vector<int32_t> touched;  // partitions with records of this poll
  std::vector<rd_kafka_message_t*> messages;
  kafka::ClientHandle client;
  kafka::QueueHandle queue;  // while it reads; destroyed before the client

  /// The access that reading needs, for FailWith.
  kafka::Access access() const { return {.topic = options.topic}; }
  Status AskEnds(milliseconds timeout);
  Status FindRanges(milliseconds timeout);
  /// Takes errors, too. True: the record is wanted. A failure ends the poll.
  Result<bool> Take(const rd_kafka_message_t& message);
  Status Sort(const rd_kafka_message_t& message);
  void Finish(State& state) {
    state.done = true;
    --reading;
  }
};

Status TopicReader::Impl::AskEnds(milliseconds timeout) {
  const auto metadata = kafka::TopicMetadata(client.get(), options.topic, timeout);
  if (!metadata) return Fail(metadata.error());
  std::vector<int32_t> partitions(static_cast<size_t>((*metadata)->topics[0].partition_cnt));
  std::iota(partitions.begin(), partitions.end(), 0);
  const auto found = kafka::QueryEnds(client.get(), options.topic, partitions, timeout);
  if (!found) return Fail(found.error());
  for (const auto& [partition, both] : *found) ends.push_back(both);
  return {};
}

Status TopicReader::Impl::FindRanges(milliseconds timeout) {
  if (Status asked = AskEnds(timeout); !asked) return asked;
  const auto count = static_cast<int32_t>(ends.size());
  std::vector<int32_t> partitions;
  std::map<int32_t, int64_t> starts, stops;
  for (int32_t partition = 0; partition < count; ++partition) {
    const auto& [low, high] = ends[static_cast<size_t>(partition)];
    partitions.push_back(partition);
    starts[partition] = options.from_time ? high : low;
    stops[partition] = high;
  }
  for (const auto& [time, offsets] :
       {std::pair(options.from_time, &starts), std::pair(options.to_time, &stops)}) {
    if (!time) continue;
    auto found = kafka::OffsetsForTime(client.get(), options.topic, partitions, *time, timeout);
    if (!found) return Fail(std::move(found.error()));
    found->merge(*offsets);  // partitions without a record so late
    *offsets = std::move(*found);
  }
  for (const auto& [partition, offset] : options.from_offsets) {
    if (partition < 0 || partition >= count) {
      return Fail(Code::kInvalidArgument, options.topic + " has no partition " + std::to_string(partition));
    }
    const auto& [low, high] = ends[static_cast<size_t>(partition)];
    if (offset > high) {
      return Fail(Code::kInvalidArgument, options.topic + "/" + std::to_string(partition) + ": offset " +
                                              std::to_string(offset) + " is beyond its end, " +
                                              std::to_string(high));
    }
    if (offset < low) {
      return Fail(Code::kUnavailable, options.topic + "/" + std::to_string(partition) + ": offset " +
                                          std::to_string(offset) + " is gone, the earliest is " +
                                          std::to_string(low));
    }
    starts[partition] = offset;
  }
  for (const auto& [partition, offset] : options.from_offsets_or_later) {
    if (partition < 0 || partition >= count) continue;
    const auto& [low, high] = ends[static_cast<size_t>(partition)];
    starts[partition] = std::clamp(offset, low, high);
  }
  for (const auto& [partition, offset] : options.to_offsets) {
    if (partition < 0 || partition >= count) {
      return Fail(Code::kInvalidArgument, options.topic + " has no partition " + std::to_string(partition));
    }
    stops[partition] = std::min(offset, stops[partition]);
  }
  for (int32_t partition = 0; partition < count; ++partition) {
    const int64_t from = starts[partition];
    ranges.push_back({partition, from, std::max(from, stops[partition])});
  }
  return {};
}

Result<bool> TopicReader::Impl::Take(const rd_kafka_message_t& message) {
  const auto index = static_cast<size_t>(message.partition);
  if (message.partition < 0 || index >= states.size()) {
    // About the client as a whole. The reader waits for brokers that don't answer.
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || kafka::CodeOf(message.err) == Code::kUnavailable)
      return false;
    return kafka::FailWith(message.err, "read " + options.topic, access());
  }
  State& state = states[index];
  const std::string& topic = options.topic;
  if (state.done) return false;
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (message.offset >= state.to) Finish(state);  // the last offsets are gaps
    return false;
  }
  if (kafka::IsOutOfRange(message.err)) {
    const std::string where = topic + "/" + std::to_string(message.partition);
    if (state.to == kOpenEnd) return Fail(Code::kRefused, where + ": the offset to read next is gone");
    return Fail(Code::kUnavailable, where + ": offset " + std::to_string(state.next) +
                                        " is gone: retention deleted it before the reader reached it");
  }
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (options.waits && kafka::CodeOf(message.err) == Code::kUnavailable) return false;
    return kafka::FailWith(message.err, "read " + topic + "/" + std::to_string(message.partition), access());
  }
  if (message.offset < state.next) return false;
  state.next = message.offset + 1;
  if (state.next >= state.to) Finish(state);
  return message.offset < state.to;
}

Status TopicReader::Impl::Sort(const rd_kafka_message_t& message) {
  // librdkafka asks for the group's coordinator even if nothing is ever committed. So a denied group doesn't
  // matter.
  if (message.err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED) return {};
  if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR || message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF)
    kafka::NoteAllowed(access());
  const auto wanted = Take(message);
  if (!wanted) return Fail(wanted.error());
  if (!*wanted) return {};
  State& state = states[static_cast<size_t>(message.partition)];
  if (state.records.empty()) touched.push_back(message.partition);
  state.records.push_back(kafka::RecordOf(message));
  if (ReplayNote note; message.payload == nullptr && kafka::ReadReplayNote(message, note))
    state.records.back().replay = &state.notes.emplace_back(note);
  return {};
}

TopicReader::TopicReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TopicReader::~TopicReader() = default;

Result<std::unique_ptr<TopicReader>> TopicReader::Connect(const Options& options) {
  const uint64_t queue_kbytes = std::max<uint64_t>(options.queue_bytes_max >> 10, 1024);
  auto client = kafka::MakeReader(
      options.brokers,
      {{"fetch.wait.max.ms", std::to_string(options.fetch_wait.count())},
       {"isolation.level", options.reads_uncommitted ? "read_uncommitted" : "read_committed"}},
      options.client,
      {{"queued.max.messages.kbytes", std::to_string(queue_kbytes)}, {"queued.min.messages", "200000"}});
  if (!client) return Fail(std::move(client.error()));
  auto impl = std::make_unique<Impl>(options, std::move(*client));
  return std::unique_ptr<TopicReader>(new TopicReader(std::move(impl)));
}

Result<std::unique_ptr<TopicReader>> TopicReader::Open(const Options& options, milliseconds timeout) {
  auto reader = Connect(options);
  if (!reader) return reader;
  if (Status found = (*reader)->impl_->FindRanges(timeout); !found) return Fail(std::move(found.error()));
  std::vector<Range> wanted;
  for (const Range& range : (*reader)->ranges()) {
    if (!options.only_partition || *options.only_partition == range.partition) wanted.push_back(range);
  }
  if (Status started = (*reader)->Start(wanted); !started) return Fail(std::move(started.error()));
  return reader;
}

Result<std::unique_ptr<TopicReader>> TopicReader::OpenToFollow(Options options, milliseconds timeout) {
  options.waits = true;
  options.fetch_wait = kFollowerFetchWait;
  auto reader = Connect(options);
  if (!reader) return reader;
  if (Status asked = (*reader)->impl_->AskEnds(timeout); !asked) return Fail(std::move(asked.error()));
  return reader;
}

Status TopicReader::Start(const std::vector<Range>& ranges) {
  Impl& impl = *impl_;
  impl.states.clear();
  impl.reading = 0;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(ranges.size())));
  for (const Range& range : ranges) {
    if (range.from >= range.to) continue;
    const auto index = static_cast<size_t>(range.partition);
    if (impl.states.size() <= index) impl.states.resize(index + 1);
    impl.states[index] = {range.from, range.to, false, {}, {}};
    ++impl.reading;
    rd_kafka_topic_partition_list_add(list.get(), impl.options.topic.c_str(), range.partition)->offset =
        range.from;
  }
  if (impl.reading == 0) return {};
  if (const auto error = rd_kafka_assign(impl.client.get(), list.get());
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    impl.reading = 0;
    return kafka::FailWith(error, "read " + impl.options.topic);
  }
  impl.queue.reset(rd_kafka_queue_get_consumer(impl.client.get()));
  return {};
}

Status TopicReader::FollowFrom(std::span<const int64_t> from) {
  std::vector<Range> ranges;
  ranges.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) ranges.push_back({static_cast<int32_t>(i), from[i], kOpenEnd});
  return Start(ranges);
}

Status TopicReader::Stop() {
  impl_->reading = 0;
  if (!impl_->queue) return {};
  const auto error = rd_kafka_assign(impl_->client.get(), nullptr);
  impl_->queue.reset();
  return error == RD_KAFKA_RESP_ERR_NO_ERROR ? Status()
                                             : kafka::FailWith(error, "read " + impl_->options.topic);
}

const std::vector<TopicReader::Range>& TopicReader::ranges() const { return impl_->ranges; }
const std::vector<Watermarks>& TopicReader::ends() const { return impl_->ends; }

std::string TopicReader::Cluster(milliseconds timeout) const {
  rd_kafka_t* const client = impl_->client.get();
  char* const id = rd_kafka_clusterid(client, kafka::ToTimeout(timeout));
  if (id == nullptr) return {};
  std::string cluster(id);
  rd_kafka_mem_free(client, id);
  return cluster;
}

Result<Watermarks> TopicReader::QueryEnds(int32_t partition, milliseconds timeout) const {
  return kafka::QueryEnds(impl_->client.get(), impl_->options.topic, partition, timeout);
}

Result<bool> TopicReader::IsCompacted(milliseconds timeout) const {
  return kafka::IsCompacted(impl_->client.get(), impl_->options.topic, timeout);
}

int64_t TopicReader::HighWatermark(int32_t partition) const {
  return std::max(kafka::KnownEnds(impl_->client.get(), impl_->options.topic, partition).high,
                  impl_->ends[static_cast<size_t>(partition)].high);
}

// The wait ends with the first message (a batch call would wait until the batch is full). Then the poll takes
// what else is there.
Result<bool> TopicReader::PollRecords(milliseconds timeout, const OnRecords& on_records) {
  Impl& impl = *impl_;
  if (impl.reading == 0) return false;
  const kafka::MessageHandle first(rd_kafka_consumer_poll(impl.client.get(), kafka::ToTimeout(timeout)));
  if (!first) return true;
  const auto taken =
      rd_kafka_consume_batch_queue(impl.queue.get(), 0, impl.messages.data(), impl.messages.size());
  const size_t count = taken > 0 ? static_cast<size_t>(taken) : 0;
  Status done = impl.Sort(*first);
  for (size_t i = 0; i < count && done; ++i) done = impl.Sort(*impl.messages[i]);
  for (const int32_t partition : impl.touched) {
    Impl::State& state = impl.states[static_cast<size_t>(partition)];
    if (done) done = on_records(partition, state.records);
    state.records.clear();
    state.notes.clear();
  }
  impl.touched.clear();
  for (size_t i = 0; i < count; ++i) rd_kafka_message_destroy(impl.messages[i]);
  if (!done) return Fail(done.error());
  return impl.reading > 0;
}

uint64_t TopicReader::records_remaining() const {
  uint64_t remaining = 0;
  for (const auto& state : impl_->states) {
    if (!state.done && state.to > state.next) remaining += static_cast<uint64_t>(state.to - state.next);
  }
  return remaining;
}

}  // namespace seen
