#include "kafka/reader.h"

#include <algorithm>

#include "kafka/read_loop.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

/// assign() requires "group.id". Nothing is committed, and no group is joined.
ClientSettings ReaderImposed(uint64_t queue_bytes_max) {
  return {{"group.id", "seen-reader"},
          {"enable.partition.eof", "true"},
          {"queued.max.messages.kbytes", std::to_string(std::max<uint64_t>(queue_bytes_max >> 10, 1024))},
          {"queued.min.messages", "200000"}};
}

/// The first offset at or after `time`; the end if there is none. kUnavailable, e.g. from the embedded
/// broker.
Status OffsetsForTime(rd_kafka_t* client, const std::string& topic, TimeMs time, milliseconds timeout,
                      std::map<int32_t, int64_t>& offsets) {
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& [partition, unused] : offsets) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = time.value;
  }
  const auto error = rd_kafka_offsets_for_times(client, list.get(), kafka::ToTimeout(timeout));
  const kafka::Access access{.topic = topic, .only_describes = true};
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
    return kafka::FailWith(error, "offsets of " + topic + " by time", access);
  for (int i = 0; i < list->cnt; ++i) {
    const auto& entry = list->elems[i];
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR)
      return kafka::FailWith(entry.err, "offsets of " + topic + " by time", access);
    if (entry.offset >= 0)
      offsets[entry.partition] = entry.offset;  // RD_KAFKA_OFFSET_END if no record is so late
  }
  return {};
}

}  // namespace

std::optional<std::string_view> HeaderOf(const Record& record, const char* name) {
  rd_kafka_headers_t* headers = nullptr;
  const void* value = nullptr;
  size_t bytes = 0;
  if (record.message == nullptr ||
      rd_kafka_message_headers(static_cast<const rd_kafka_message_t*>(record.message), &headers) !=
          RD_KAFKA_RESP_ERR_NO_ERROR ||
      rd_kafka_header_get_last(headers, name, &value, &bytes) != RD_KAFKA_RESP_ERR_NO_ERROR ||
      value == nullptr) {
    return std::nullopt;
  }
  return std::string_view(static_cast<const char*>(value), bytes);
}

struct TopicReader::Impl {
  struct State {
    bool done = false;
    int64_t next = 0;
  };

  Options options;
  std::vector<Range> ranges;  // index: partition
  std::vector<State> states;
  std::unique_ptr<kafka::ReadLoop> loop;

  Status FindRanges(milliseconds timeout);
  Result<bool> Take(const rd_kafka_message_t& message);
  bool Done() const {
    return std::all_of(states.begin(), states.end(), [](const State& state) { return state.done; });
  }
};

Status TopicReader::Impl::FindRanges(milliseconds timeout) {
  const auto found_ends = loop->QueryEnds(timeout);
  if (!found_ends) return Fail(found_ends.error());
  const auto count = static_cast<int32_t>(found_ends->size());
  std::map<int32_t, int64_t> lows, starts, ends;
  for (int32_t partition = 0; partition < count; ++partition) {
    const auto& [low, high] = (*found_ends)[static_cast<size_t>(partition)];
    lows[partition] = low;
    starts[partition] = options.from_time ? high : low;
    ends[partition] = high;
  }
  if (options.from_time) {
    if (auto found = OffsetsForTime(loop->client(), options.topic, *options.from_time, timeout, starts);
        !found) {
      return found;
    }
  }
  if (options.to_time) {
    if (auto found = OffsetsForTime(loop->client(), options.topic, *options.to_time, timeout, ends); !found) {
      return found;
    }
  }
  for (const auto& [partition, offset] : options.from_offsets) {
    if (partition < 0 || partition >= count) {
      return Fail(Code::kInvalidArgument, options.topic + " has no partition " + std::to_string(partition));
    }
    if (offset > found_ends->at(static_cast<size_t>(partition)).high) {
      return Fail(Code::kInvalidArgument,
                  options.topic + "/" + std::to_string(partition) + ": offset " + std::to_string(offset) +
                      " is beyond its end, " +
                      std::to_string(found_ends->at(static_cast<size_t>(partition)).high));
    }
    if (offset < lows[partition]) {
      return Fail(Code::kUnavailable, options.topic + "/" + std::to_string(partition) + ": offset " +
                                          std::to_string(offset) + " is gone, the earliest is " +
                                          std::to_string(lows[partition]));
    }
    starts[partition] = offset;
  }
  for (const auto& [partition, offset] : options.to_offsets) {
    if (partition < 0 || partition >= count) {
      return Fail(Code::kInvalidArgument, options.topic + " has no partition " + std::to_string(partition));
    }
    ends[partition] = std::min(offset, ends[partition]);
  }
  for (int32_t partition = 0; partition < count; ++partition) {
    const int64_t from = starts[partition];
    ranges.push_back({partition, from, std::max(from, ends[partition])});
    const bool is_wanted = !options.only_partition || *options.only_partition == partition;
    states.push_back({!is_wanted || from >= ends[partition], from});
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
  auto& state = states[index];
  const auto& range = ranges[index];
  if (state.done) return false;
  if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
    if (message.offset >= range.to) state.done = true;  // the last offsets are gaps
    return false;
  }
  if (message.err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (message.err == RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET) {
      return Fail(Code::kUnavailable, options.topic + "/" + std::to_string(message.partition) + ": offset " +
                                          std::to_string(state.next) +
                                          " is gone: retention deleted it before the reader reached it");
    }
    return kafka::FailWith(message.err, "read " + options.topic + "/" + std::to_string(message.partition),
                           loop->access());
  }
  if (message.offset < state.next) return false;
  state.next = message.offset + 1;
  if (state.next >= range.to) state.done = true;
  return message.offset < range.to;
}

TopicReader::TopicReader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
TopicReader::~TopicReader() = default;

Result<std::unique_ptr<TopicReader>> TopicReader::Open(const Options& options, milliseconds timeout) {
  auto loop = kafka::ReadLoop::Open(
      {options.brokers, options.client, options.topic, ReaderImposed(options.queue_bytes_max)});
  if (!loop) return Fail(std::move(loop.error()));
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  impl->loop = std::move(*loop);
  if (auto found = impl->FindRanges(timeout); !found) return Fail(std::move(found.error()));
  std::vector<int64_t> from;
  from.reserve(impl->ranges.size());
  for (size_t i = 0; i < impl->ranges.size(); ++i) {
    from.push_back(impl->states[i].done ? -1 : impl->ranges[i].from);
  }
  if (auto assigned = impl->loop->Assign(from); !assigned) return Fail(std::move(assigned.error()));
  return std::unique_ptr<TopicReader>(new TopicReader(std::move(impl)));
}

const std::vector<TopicReader::Range>& TopicReader::ranges() const { return impl_->ranges; }

Result<int64_t> TopicReader::QueryLow(int32_t partition, milliseconds timeout) const {
  const auto ends = impl_->loop->QueryEnds(partition, timeout);
  if (!ends) return Fail(ends.error());
  return ends->low;
}

Result<bool> TopicReader::Poll(milliseconds timeout, const OnRecords& on_records) {
  auto& impl = *impl_;
  if (impl.Done()) return false;
  const auto polled = impl.loop->Poll(
      timeout, [&](const rd_kafka_message_t& message) { return impl.Take(message); },
      [&](int32_t partition, std::span<const Record> records) -> Status {
        on_records(partition, records);
        return {};
      });
  if (!polled) return Fail(polled.error());
  return !impl.Done();
}

uint64_t TopicReader::records_remaining() const {
  uint64_t remaining = 0;
  for (size_t i = 0; i < impl_->ranges.size(); ++i) {
    const int64_t left = impl_->ranges[i].to - impl_->states[i].next;
    if (!impl_->states[i].done && left > 0) remaining += static_cast<uint64_t>(left);
  }
  return remaining;
}

}  // namespace seen
