#include "kafka/state_topic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "kafka/producer.h"
#include "state_stream/state_record.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kAsk{5'000};
constexpr milliseconds kStatePoll{200};
constexpr milliseconds kFetchWait{10};
constexpr uint64_t kReadBytesMax = 16 << 20;
constexpr milliseconds kSilence{30'000};  // then a read gives up

}  // namespace

TopicSpec StateTopicSpec(std::string name, int32_t partitions) {
  return {std::move(name),
          partitions,
          {{"cleanup.policy", "delete"},
           {"retention.ms", "-1"},
           {"retention.bytes", "-1"},
           {"segment.bytes", "134217728"},  // brokers delete only whole segments
           {"unclean.leader.election.enable", "false"}}};
}

PartitionProducer::Options StateProducerOptions(const StateTopicOptions& topic) {
  return {.name = "the state topic's producer",
          .brokers = topic.brokers,
          .client = topic.client,
          .topic = topic.topic,
          .key = topic.group,
          .queue_bytes_max = topic.queue_bytes_max,
          .record_bytes_max = topic.record_bytes_max};
}

StateTopicReader::StateTopicReader(StateTopicOptions options, const std::atomic<bool>& stop)
    : options_(std::move(options)), stop_(stop) {}
StateTopicReader::~StateTopicReader() = default;

Status StateTopicReader::Connect() {
  if (reader_) return {};
  // The next read begins only when brokers have answered the last fetch of this one.
  auto reader = TopicReader::Connect({.brokers = options_.brokers,
                                      .client = options_.client,
                                      .topic = options_.topic,
                                      .queue_bytes_max = kReadBytesMax,
                                      .fetch_wait = kFetchWait,
                                      .waits = true,
                                      // Owners write without transactions.
                                      .reads_uncommitted = true});
  if (!reader) return Fail(std::move(reader.error()));
  reader_ = std::move(*reader);
  return {};
}

Result<int64_t> StateTopicReader::End(int32_t partition) {
  if (Status connected = Connect(); !connected) return Fail(std::move(connected.error()));
  const auto ends = reader_->QueryEnds(partition, kAsk);
  if (ends) return ends->high;
  reader_.reset();
  return Fail(ends.error());
}

Status StateTopicReader::Read(int32_t partition, int64_t from, int64_t to, const Visit& visit) {
  Status read = Connect();
  if (read) read = ReadOnce(partition, from, to, visit);
  if (read) read = reader_->Stop();
  if (!read) reader_.reset();
  return read;
}

Status StateTopicReader::ReadOnce(int32_t partition, int64_t from, int64_t to, const Visit& visit) {
  const auto ends = reader_->QueryEnds(partition, kAsk);
  if (!ends) return Fail(ends.error());
  if (Status started = reader_->Start({{partition, std::max(from, ends->low), std::min(to, ends->high)}});
      !started) {
    return started;
  }
  auto heard = std::chrono::steady_clock::now();
  bool goes_on = true;
  foreign_ = {};
  const auto on_records = [&](int32_t, std::span<const Record> records) -> Status {
    heard = std::chrono::steady_clock::now();
    for (const Record& record : records) {
      const bool is_own =
          record.key == options_.group || (options_.reads_group && options_.reads_group(record.key));
      if (!is_own) {
        Skip(record);
      } else if (goes_on) {
        goes_on = visit(record.offset, record.value);
      }
    }
    return {};
  };
  while (goes_on) {
    if (stop_.load() || std::chrono::steady_clock::now() - heard > kSilence)
      return Fail(Code::kUnavailable, "read " + options_.topic + ": no answer");
    const auto more = reader_->Poll(kStatePoll, on_records);
    if (!more) return Fail(more.error());
    if (!*more) break;
  }
  return {};
}

// Anybody may write here by mistake. Only an opening of another group, newer than this group's, means that
// the topic is the other group's.
void StateTopicReader::Skip(const Record& record) {
  ++foreign_.records;
  const auto decoded = record.key.empty() ? Result<StateRecord>(Fail(Code::kMalformed, "no key"))
                                          : DecodeStateRecord(record.value, record.offset);
  if (!decoded) return;
  const auto* const part = std::get_if<ReadStatePart>(&*decoded);
  const int64_t epoch = part != nullptr ? part->head.epoch : record.offset;
  if (epoch <= foreign_.newest_epoch) return;
  foreign_.newest_epoch = epoch;
  foreign_.refusal = fmt::format(
      "topic \"{}\" has the state of group \"{}\", and this daemon belongs to group \"{}\". Remedy: set "
      "topic_prefix, which names all topics of a group, or state.topic, to a name of this group's own",
      options_.topic, record.key, options_.group);
}

}  // namespace seen
