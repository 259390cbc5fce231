#include "kafka/event_producer.h"

#include <atomic>
#include <thread>

#include "base/mutex.h"
#include "base/threads.h"
#include "kafka/producing.h"

namespace seen {
namespace {

constexpr int kPollMs = 100;
constexpr uint64_t kQueueBytesMax = 16 << 20;

std::string Seconds(std::chrono::milliseconds time) { return std::to_string(time.count() / 1000) + " s"; }

}  // namespace

struct EventProducer::Impl {
  explicit Impl(const Options& given) : options(given) {}

  const Options options;
  Mutex mutex;
  kafka::ClientHandle client GUARDED_BY(mutex);
  kafka::TopicHandle topic GUARDED_BY(mutex);
  bool stopped GUARDED_BY(mutex) = false;
  std::thread poll GUARDED_BY(mutex);

  std::atomic<bool> stopping{false};
  std::atomic<size_t> outstanding{0};

  Status Connect() REQUIRES(mutex);
  Status Produce(std::string_view key, std::string_view value, ChangePort::Done& done);
  void OnDelivery(const rd_kafka_message_t& message);
};

EventProducer::EventProducer(const Options& options) : impl_(std::make_unique<Impl>(options)) {}
EventProducer::~EventProducer() { Stop(); }

Status EventProducer::Impl::Connect() {
  auto made =
      kafka::OpenTopicProducer({options.brokers,
                                options.client,
                                {kQueueBytesMax, {}},
                                {},
                                // An idempotent producer may end in a fatal error when a message times out.
                                {{"enable.idempotence", "false"},
                                 {"linger.ms", "0"},
                                 {"message.timeout.ms", std::to_string(options.within.count())}},
                                this,
                                [](rd_kafka_t*, const rd_kafka_message_t* message, void* opaque) {
                                  static_cast<Impl*>(opaque)->OnDelivery(*message);
                                }},
                               options.topic, options.partitioner);
  if (!made) return Fail(std::move(made.error()));
  client = std::move(made->client);
  topic = std::move(made->topic);
  poll = std::thread([this, polled = client.get()] {
    NameThread("events-out");
    while (!stopping.load(std::memory_order_relaxed)) rd_kafka_poll(polled, kPollMs);
  });
  return {};
}

// Takes `done` if it succeeds.
Status EventProducer::Impl::Produce(std::string_view key, std::string_view value, ChangePort::Done& done) {
  const MutexLock lock(mutex);
  if (stopped) return Fail(Code::kUnavailable, "stopping");
  if (!client) {
    if (Status connected = Connect(); !connected) return connected;
  }
  if (outstanding.load() >= options.outstanding_max) {
    return Fail(Code::kUnavailable,
                std::to_string(options.outstanding_max) + " events wait for the brokers already");
  }
  auto ticket = std::make_unique<ChangePort::Done>(std::move(done));
  const int32_t partition = options.partitions == 0
                                ? RD_KAFKA_PARTITION_UA
                                : PartitionOf(options.partitioner, key, options.partitions);
  const auto error =
      rd_kafka_producev(client.get(), RD_KAFKA_V_RKT(topic.get()), RD_KAFKA_V_PARTITION(partition),
                        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(key.data(), key.size()),
                        RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                        RD_KAFKA_V_OPAQUE(ticket.get()), RD_KAFKA_V_END);
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
      kafka::NoteAllowed(kafka::WriteTo(options.topic));
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

void EventProducer::Send(std::string_view key, std::string_view value, ChangePort::Done done) {
  if (const Status queued = impl_->Produce(key, value, done); !queued) done(Fail(queued.error()));
}

void EventProducer::Stop() {
  std::thread poll;
  rd_kafka_t* client = nullptr;
  {
    const MutexLock lock(impl_->mutex);
    if (impl_->stopped) return;
    impl_->stopped = true;
    poll = std::move(impl_->poll);
    client = impl_->client.get();
  }
  impl_->stopping.store(true);
  if (poll.joinable()) poll.join();
  if (client == nullptr) return;
  rd_kafka_purge(client, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  rd_kafka_flush(client, 200);
}

}  // namespace seen
