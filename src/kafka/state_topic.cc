#include "kafka/state_topic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/log.h"
#include "kafka/producing.h"
#include "kafka/read_loop.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kAsk{5'000};
constexpr milliseconds kPoll{200};
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
  StateTopicOptions options;
  kafka::TopicProducer producer;
  std::vector<StateDelivery> delivered;
  std::string refusal;

  Status Connect();
  void NoteAnswer(rd_kafka_resp_err_t error);
  void Drop();
};

Status StateProducer::Impl::Connect() {
  auto made = kafka::OpenTopicProducer(
      {options.brokers,
       options.client,
       {options.queue_bytes_max, kLinger},
       {{"message.max.bytes",
         std::to_string(std::clamp<size_t>(options.record_bytes_max, 1'000, 1'000'000'000))}},
       // Blocks are compressed already.
       {{"compression.codec", "none"},
        {"message.timeout.ms", kDeliveryMs},
        {"batch.size", std::to_string(std::clamp<size_t>(options.record_bytes_max, 1'000, 1'000'000))}},
       this,
       [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
         const bool ok = message->err == RD_KAFKA_RESP_ERR_NO_ERROR;
         static_cast<Impl*>(opaque)->NoteAnswer(message->err);
         static_cast<Impl*>(opaque)->delivered.push_back(
             {message->partition, reinterpret_cast<uint64_t>(message->_private), ok ? message->offset : -1});
       }},
      options.topic, Partitioner::kMurmur2);
  if (!made) return Fail(std::move(made.error()));
  producer = std::move(*made);
  return {};
}

void StateProducer::Impl::NoteAnswer(rd_kafka_resp_err_t error) {
  const kafka::Access access = kafka::WriteTo(options.topic);
  if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    refusal.clear();
    return kafka::NoteAllowed(access);
  }
  if (kafka::CodeOf(error) == Code::kUnavailable) return;
  std::string text =
      fmt::format("state isn't sent to topic \"{}\": {}", options.topic, kafka::Explain(error, access));
  if (text != refusal) log::Error("the state topic accepts no records", {{"reason", text}});
  refusal = std::move(text);
}

void StateProducer::Impl::Drop() {
  if (!producer.client) return;
  rd_kafka_purge(producer.client.get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(producer.client.get(), 200);  // each record comes back
  producer.topic.reset();
  producer.client.reset();
}

StateProducer::StateProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StateProducer::~StateProducer() { impl_->Drop(); }

Result<std::unique_ptr<StateProducer>> StateProducer::Open(const StateTopicOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->options = options;
  if (Status connected = impl->Connect(); !connected) return Fail(std::move(connected.error()));
  return std::unique_ptr<StateProducer>(new StateProducer(std::move(impl)));
}

bool StateProducer::TrySend(int32_t partition, std::string_view record, uint64_t ticket) {
  if (!impl_->producer.client) return false;
  // RD_KAFKA_MSG_F_COPY: librdkafka doesn't change the bytes.
  const std::string& group = impl_->options.group;
  const int result = rd_kafka_produce(impl_->producer.topic.get(), partition, RD_KAFKA_MSG_F_COPY,
                                      const_cast<char*>(record.data()), record.size(), group.data(),
                                      group.size(), reinterpret_cast<void*>(ticket));
  if (result == 0) return true;
  const rd_kafka_resp_err_t error = rd_kafka_last_error();
  if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) return false;
  impl_->NoteAnswer(error);
  impl_->delivered.push_back({partition, ticket, -1});
  return true;
}

void StateProducer::PollDeliveries(const std::function<void(const StateDelivery&)>& on_delivery) {
  if (impl_->producer.client) {
    rd_kafka_poll(impl_->producer.client.get(), 0);
    if (const Status healthy = kafka::ProducerHealth(impl_->producer.client.get()); !healthy) {
      log::Warning("the state topic's producer is opened again", {{"reason", healthy.error().message}});
      impl_->Drop();
    }
  }
  if (!impl_->producer.client) (void)impl_->Connect();  // the next poll tries again
  for (const StateDelivery& delivery : std::exchange(impl_->delivered, {})) on_delivery(delivery);
}

std::string StateProducer::refusal() const { return impl_->refusal; }

StateTopicReader::StateTopicReader(StateTopicOptions options, const std::atomic<bool>& stop)
    : options_(std::move(options)), stop_(stop) {}
StateTopicReader::~StateTopicReader() = default;

Status StateTopicReader::Connect() {
  if (loop_) return {};
  auto loop = kafka::ReadLoop::Open({options_.brokers,
                                     options_.client,
                                     options_.topic,
                                     {{"group.id", "seen-reader"},
                                      {"enable.partition.eof", "true"},
                                      // The next read begins only when brokers have answered the last fetch
                                      // of this one.
                                      {"fetch.wait.max.ms", "10"},
                                      {"queued.max.messages.kbytes", "16384"}}});
  if (!loop) return Fail(std::move(loop.error()));
  loop_ = std::move(*loop);
  return {};
}

Result<int64_t> StateTopicReader::End(int32_t partition) {
  if (Status connected = Connect(); !connected) return Fail(std::move(connected.error()));
  const auto ends = loop_->QueryEnds(partition, kAsk);
  if (ends) return ends->high;
  loop_.reset();
  return Fail(ends.error());
}

Status StateTopicReader::Read(int32_t partition, int64_t from, int64_t to, const Visit& visit) {
  Status read = Connect();
  if (read) read = ReadOnce(partition, from, to, visit);
  if (read) read = loop_->Unassign();
  if (!read) loop_.reset();
  return read;
}

Status StateTopicReader::ReadOnce(int32_t partition, int64_t from, int64_t to, const Visit& visit) {
  const auto ends = loop_->QueryEnds(partition, kAsk);
  if (!ends) return Fail(ends.error());
  int64_t next = std::max(from, ends->low);
  const int64_t end = std::min(to, ends->high);
  std::vector<int64_t> assigned(static_cast<size_t>(partition) + 1, -1);
  assigned.back() = next;
  if (Status done = next < end ? loop_->Assign(assigned) : Status(); !done) return done;
  auto heard = std::chrono::steady_clock::now();
  bool goes_on = true;
  const auto take = [&](const rd_kafka_message_t& message) -> Result<bool> {
    if (message.err == RD_KAFKA_RESP_ERR__PARTITION_EOF) {
      next = std::max(next, message.offset);  // the last offsets are gaps
      return false;
    }
    if (message.err == RD_KAFKA_RESP_ERR_NO_ERROR) return message.offset >= next && message.offset < end;
    if (kafka::CodeOf(message.err) == Code::kUnavailable) return false;
    return kafka::FailWith(message.err, "read " + options_.topic + "/" + std::to_string(partition),
                           loop_->access());
  };
  const auto on_records = [&](int32_t, std::span<const Record> records) -> Status {
    heard = std::chrono::steady_clock::now();
    for (const Record& record : records) {
      if (record.key != options_.group && (!options_.reads_group || !options_.reads_group(record.key))) {
        return Fail(
            Code::kRefused,
            fmt::format("topic \"{}\" has the state of group \"{}\", and this daemon belongs to group "
                        "\"{}\". Set state.topic to a topic of this group's own",
                        options_.topic, record.key, options_.group));
      }
      next = record.offset + 1;
      if (goes_on) goes_on = visit(record.offset, record.value);
    }
    return {};
  };
  while (goes_on && next < end) {
    if (stop_.load() || std::chrono::steady_clock::now() - heard > kSilence)
      return Fail(Code::kUnavailable, "read " + options_.topic + ": no answer");
    if (Status polled = loop_->Poll(kPoll, take, on_records); !polled) return polled;
  }
  return {};
}

}  // namespace seen
