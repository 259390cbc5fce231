#include "kafka/topic_reader.h"

#include <algorithm>
#include <utility>

#include "kafka/message_record.h"
#include "kafka/read_loop.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kFollowerFetchWait{500};  // it asks nothing once it reads, so no question waits

/// assign() requires "group.id". Nothing is committed, and no group is joined.
ClientSettings ReaderImposed(uint64_t queue_bytes_max) {
  return {{"group.id", "seen-reader"},
          {"enable.partition.eof", "true"},
          {"queued.max.messages.kbytes", std::to_string(std::max<uint64_t>(queue_bytes_max >> 10, 1024))},
          {"queued.min.messages", "200000"}};
}

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
  };

  Options options;
  std::vector<Watermarks> ends;
  std::vector<Range> ranges;
  std::vector<State> states;  // index: partition
  size_t reading = 0;         // states that aren't done
  std::unique_ptr<kafka::ReadLoop> loop;

  Status AskEnds(milliseconds timeout);
  Status FindRanges(milliseconds timeout);
  Result<bool> Take(const rd_kafka_message_t& message);
  void Finish(State& state) {
    state.done = true;
    --reading;
  }
};

Status TopicReader::Impl::AskEnds(milliseconds timeout) {
  auto found = loop->QueryEnds(timeout);
  if (!found) return Fail(found.error());
  ends = std::move(*found);
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
    auto found = kafka::OffsetsForTime(loop->client(), options.topic, partitions, *time, timeout);
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
    return kafka::FailWith(message.err, "read " + options.topic, loop->access());
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
    return kafka::FailWith(message.err, "read " + topic + "/" + std::to_string(message.partition),
                           loop->access());
  }
  if (message.offset < state.next) return false;
  state.next = message.offset + 1;
  if (state.next >= state.to) Finish(state);
  return message.offset < state.to;
}

TopicReader::TopicReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TopicReader::~TopicReader() = default;

Result<std::unique_ptr<TopicReader>> TopicReader::Connect(const Options& options) {
  auto loop = kafka::ReadLoop::Open({.brokers = options.brokers,
                                     .client = options.client,
                                     .topic = options.topic,
                                     .imposed = ReaderImposed(options.queue_bytes_max),
                                     .fetch_wait = options.fetch_wait});
  if (!loop) return Fail(std::move(loop.error()));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->loop = std::move(*loop);
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
  int32_t last = -1;
  for (const Range& range : ranges) last = std::max(last, range.partition);
  std::vector<int64_t> from(static_cast<size_t>(last + 1), -1);
  impl_->states.assign(from.size(), {});
  impl_->reading = 0;
  for (const Range& range : ranges) {
    if (range.from >= range.to) continue;
    const auto index = static_cast<size_t>(range.partition);
    from[index] = range.from;
    impl_->states[index] = {range.from, range.to, false};
    ++impl_->reading;
  }
  return impl_->loop->Assign(from);
}

Status TopicReader::FollowFrom(std::span<const int64_t> from) {
  std::vector<Range> ranges;
  ranges.reserve(from.size());
  for (size_t i = 0; i < from.size(); ++i) ranges.push_back({static_cast<int32_t>(i), from[i], kOpenEnd});
  return Start(ranges);
}

Status TopicReader::Stop() {
  impl_->reading = 0;
  return impl_->loop->Unassign();
}

const std::vector<TopicReader::Range>& TopicReader::ranges() const { return impl_->ranges; }
const std::vector<Watermarks>& TopicReader::ends() const { return impl_->ends; }

std::string TopicReader::Cluster(milliseconds timeout) const {
  rd_kafka_t* const client = impl_->loop->client();
  char* const id = rd_kafka_clusterid(client, kafka::ToTimeout(timeout));
  if (id == nullptr) return {};
  std::string cluster(id);
  rd_kafka_mem_free(client, id);
  return cluster;
}

Result<Watermarks> TopicReader::QueryEnds(int32_t partition, milliseconds timeout) const {
  return kafka::QueryEnds(impl_->loop->client(), impl_->options.topic, partition, timeout);
}

int64_t TopicReader::HighWatermark(int32_t partition) const {
  return std::max(kafka::KnownEnds(impl_->loop->client(), impl_->options.topic, partition).high,
                  impl_->ends[static_cast<size_t>(partition)].high);
}

Result<bool> TopicReader::PollRecords(milliseconds timeout, const OnRecords& on_records) {
  if (impl_->reading == 0) return false;
  const Status polled = impl_->loop->Poll(
      timeout, [this](const rd_kafka_message_t& message) { return impl_->Take(message); }, on_records);
  if (!polled) return Fail(polled.error());
  return impl_->reading > 0;
}

uint64_t TopicReader::records_remaining() const {
  uint64_t remaining = 0;
  for (const auto& state : impl_->states) {
    if (!state.done && state.to > state.next) remaining += static_cast<uint64_t>(state.to - state.next);
  }
  return remaining;
}

}  // namespace seen
