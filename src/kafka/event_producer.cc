#include "kafka/event_producer.h"

#include <atomic>

#include "base/mutex.h"
#include "kafka/producer.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kEventPoll{100};
constexpr uint64_t kQueueBytesMax = 16 << 20;

std::string Seconds(milliseconds time) { return std::to_string(time.count() / 1000) + " s"; }

}  // namespace

struct EventProducer::Impl {
  explicit Impl(const Options& given)
      : options(given),
        producer({.name = "producer of events",
                  .brokers = given.brokers,
                  .client = given.client,
                  .topics = {given.topic},
                  .partitioner = given.partitioner,
                  .queue_bytes_max = kQueueBytesMax,
                  // An idempotent producer may end in a fatal error when a message times out.
                  .imposed = {{"enable.idempotence", "false"},
                              {"linger.ms", "0"},
                              {"message.timeout.ms", std::to_string(given.within.count())}},
                  .on_delivery = [this](const rd_kafka_message_t& message) { OnDelivery(message); },
                  .thread = "events-out",
                  .poll_wait = kEventPoll}) {}

  const Options options;
  std::atomic<size_t> outstanding{0};
  Mutex mutex;
  bool connected GUARDED_BY(mutex) = false;
  bool stopped GUARDED_BY(mutex) = false;
  kafka::Producer producer;

  Status Produce(std::string_view key, std::string_view value, ChangePort::Done& done, TimeMs timestamp);
  void OnDelivery(const rd_kafka_message_t& message);
};

EventProducer::EventProducer(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
EventProducer::~EventProducer() { Stop(); }

// Takes `done` if it succeeds.
Status EventProducer::Impl::Produce(std::string_view key, std::string_view value, ChangePort::Done& done,
                                    TimeMs timestamp) {
  const MutexLock lock(mutex);
  if (stopped) return Fail(Code::kUnavailable, "stopping");
  if (!connected) {
    if (Status opened = producer.Open(); !opened) return opened;
    connected = true;
  }
  if (outstanding.load() >= options.outstanding_max) {
    return Fail(Code::kUnavailable,
                std::to_string(options.outstanding_max) + " events wait for the brokers already");
  }
  auto ticket = std::make_unique<ChangePort::Done>(std::move(done));
  const int32_t partition = options.partitions == 0
                                ? RD_KAFKA_PARTITION_UA
                                : PartitionOf(options.partitioner, key, options.partitions);
  const auto error = producer.Produce({.key = key,
                                       .value = value,
                                       .ticket = ticket.get(),
                                       .timestamp_ms = timestamp.value,
                                       .partition = partition});
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    done = std::move(*ticket);
    return kafka::FailWith(error, "topic \"" + options.topic + "\"", kafka::WriteTo(options.topic));
  }
  (void)ticket.release();  // comes back in OnDelivery
  outstanding.fetch_add(1);
  return {};
}

void EventProducer::Impl::OnDelivery(const rd_kafka_message_t& message) {
  const std::unique_ptr<ChangePort::Done> done(static_cast<ChangePort::Done*>(message._private));
  outstanding.fetch_sub(1);
  switch (message.err) {
    case RD_KAFKA_RESP_ERR_NO_ERROR:
      return (*done)(ChangePlace{message.partition, message.offset});
    case RD_KAFKA_RESP_ERR__MSG_TIMED_OUT:
      return (*done)(Fail(Code::kUnavailable, "the brokers didn't acknowledge the event within " +
                                                  Seconds(options.within) +
                                                  ": the event may have been written or not"));
    case RD_KAFKA_RESP_ERR__PURGE_QUEUE:
    case RD_KAFKA_RESP_ERR__PURGE_INFLIGHT:
      return (*done)(Fail(Code::kUnavailable, "stopping: the event may have been written or not"));
    default:
      return (*done)(
          kafka::FailWith(message.err, "topic \"" + options.topic + "\"", kafka::WriteTo(options.topic)));
  }
}

void EventProducer::Send(std::string_view key, std::string_view value, ChangePort::Done done,
                         TimeMs timestamp) {
  if (const Status queued = impl_->Produce(key, value, done, timestamp); !queued) done(Fail(queued.error()));
}

void EventProducer::Stop() {
  {
    const MutexLock lock(impl_->mutex);
    if (impl_->stopped) return;
    impl_->stopped = true;
  }
  impl_->producer.Drop();
}

}  // namespace seen
