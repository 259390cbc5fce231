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
constexpr milliseconds kLinger{20};
constexpr const char* kDeliveryMs = "60000";

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

struct StateProducer::Impl {
  explicit Impl(const StateTopicOptions& given) : options(given), producer(ProducerOptions()) {}

  StateTopicOptions options;
  std::vector<StateDelivery> delivered;
  std::map<int32_t, std::string> refusals;
  kafka::Producer producer;

  kafka::Producer::Options ProducerOptions();
  void NoteAnswer(int32_t partition, rd_kafka_resp_err_t error);
};

kafka::Producer::Options StateProducer::Impl::ProducerOptions() {
  return {.name = "the state topic's producer",
          .brokers = options.brokers,
          .client = options.client,
          .topics = {options.topic},
          .queue_bytes_max = options.queue_bytes_max,
          .linger = kLinger,
          .batch_bytes_max = options.record_bytes_max,
          .record_bytes_max = options.record_bytes_max,
          // Blocks are compressed already.
          .imposed = {{"compression.codec", "none"}, {"message.timeout.ms", kDeliveryMs}},
          .on_delivery = [this](const rd_kafka_message_t& message) {
            const bool ok = message.err == RD_KAFKA_RESP_ERR_NO_ERROR;
            NoteAnswer(message.partition, message.err);
            delivered.push_back(
                {message.partition, reinterpret_cast<uint64_t>(message._private), ok ? message.offset : -1});
          }};
}

void StateProducer::Impl::NoteAnswer(int32_t partition, rd_kafka_resp_err_t error) {
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    refusals.erase(partition);
    return;
  }
  if (error == RD_KAFKA_RESP_ERR__PURGE_QUEUE || error == RD_KAFKA_RESP_ERR__PURGE_INFLIGHT) return;
  std::string text = kafka::Explain(error, kafka::WriteTo(options.topic));
  std::string& known = refusals[partition];
  if (text != known)
    log::Error("the state topic accepts no records",
               {{"topic", options.topic}, {"partition", partition}, {"reason", text}});
  known = std::move(text);
}

StateProducer::StateProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StateProducer::~StateProducer() = default;

Result<std::unique_ptr<StateProducer>> StateProducer::Open(const StateTopicOptions& options) {
  auto impl = std::make_unique<Impl>(options);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
  return std::unique_ptr<StateProducer>(new StateProducer(std::move(impl)));
}

bool StateProducer::TrySend(int32_t partition, std::string_view record, uint64_t ticket) {
  const auto error = impl_->producer.Produce({.key = impl_->options.group,
                                              .value = record,
                                              .ticket = reinterpret_cast<void*>(ticket),
                                              .partition = partition});
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) return true;
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
  impl_->NoteAnswer(partition, error);
  impl_->delivered.push_back({partition, ticket, -1});
  return true;
}

void StateProducer::PollDeliveries(const std::function<void(const StateDelivery&)>& on_delivery) {
  impl_->producer.Poll(milliseconds(0));
  impl_->producer.KeepOpen();
  for (const StateDelivery& delivery : std::exchange(impl_->delivered, {})) on_delivery(delivery);
}

const std::map<int32_t, std::string>& StateProducer::refusals() const { return impl_->refusals; }

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
