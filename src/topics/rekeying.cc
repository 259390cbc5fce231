#include "topics/rekeying.h"

#include <fmt/format.h>

#include <algorithm>

namespace seen {
namespace {
using std::chrono::milliseconds;

// The maximum that a record has beside its value: key and headers.
constexpr size_t kRecordOverheadMax = 64 * 1024;
}  // namespace

Rekeying::Options Rekeying::ForEvents(const Config& config, const std::shared_ptr<const EventPlan>& plan) {
  Options options;
  options.config = &config;
  options.source_topic = *config.input.source_topic;
  options.keyed_topic = config.input.topic;
  options.topic_key = "input.topic";
  options.group_id = RekeyingGroup(config);
  options.record_bytes_max = config.input.event_bytes_max;
  options.make_keyer = [plan, bytes_max = config.input.event_bytes_max,
                        ahead_max = config.input.future_skew_max] {
    return NewEventKeyer(plan, bytes_max, ahead_max);
  };
  return options;
}

Rekeying::~Rekeying() { Stop(milliseconds(0)); }

Result<std::unique_ptr<Rekeying>> Rekeying::Start(const Options& options, const Readers& readers,
                                                  RekeyReporter& reporter, const Clock& clock,
                                                  OnFailed on_failed) {
  std::unique_ptr<Rekeying> made(new Rekeying(options));
  if (Status opened = made->OpenProducers(reporter); !opened) return Fail(std::move(opened.error()));
  if (Status runs = made->Run(readers, reporter, clock, std::move(on_failed)); !runs)
    return Fail(std::move(runs.error()));
  return made;
}

Status Rekeying::OpenProducers(RekeyReporter& reporter) {
  const Config& config = *options_.config;
  DeadLetterProducer::Options letters;
  letters.brokers = config.kafka.brokers;
  letters.client = config.kafka.client;
  letters.topic = config.input.dead_letter_topic;
  letters.source_topic = options_.source_topic;
  letters.queue_bytes_max = options_.dead_letter_bytes_max;
  letters.reporter = &reporter;
  auto dead_letters = DeadLetterProducer::Open(letters);
  if (!dead_letters) return Fail(std::move(dead_letters.error()));
  dead_letters_ = std::move(*dead_letters);

  KeyedProducer::Options keyed;
  keyed.brokers = config.kafka.brokers;
  keyed.client = config.kafka.client;
  keyed.topic = options_.keyed_topic;
  keyed.record_bytes_max = options_.record_bytes_max + kRecordOverheadMax;
  // A record longer than the queue would never fit.
  keyed.queue_bytes_max = std::max<uint64_t>(options_.producer_bytes_max, 2 * keyed.record_bytes_max);
  keyed.batch_bytes_max = options_.keyed_message_bytes_max;
  keyed.on_outcomes = [this](std::span<const DeliveryReport> reports) { handler_->Delivered(reports); };
  auto producer = KeyedProducer::Open(keyed);
  if (!producer) return Fail(std::move(producer.error()));
  producer_ = std::move(*producer);
  return {};
}

Status Rekeying::Run(const Readers& readers, RekeyReporter& reporter, const Clock& clock,
                     OnFailed on_failed) {
  RekeyHandler::Options handler;
  handler.source_topic = options_.source_topic;
  handler.group_id = options_.group_id;
  handler.ready_lag_messages = static_cast<int64_t>(options_.config->http.ready_lag_messages);
  handler.make_keyer = options_.make_keyer;
  handler_ = std::make_unique<RekeyHandler>(std::move(handler), readers, *producer_, *dead_letters_, room_,
                                            reporter, clock);
  TopicConsumer::Options topic_consumer;
  topic_consumer.topic = options_.source_topic;
  topic_consumer.remedy = "point " + std::string(options_.topic_key) + " at the right topic, or ";
  topic_consumer.rebuild_does = "re-key it from its earliest record";
  topic_consumer.rebuild = options_.rebuild;
  topic_consumer_ = std::make_unique<TopicConsumer>(std::move(topic_consumer), *handler_, room_, clock);

  Consumer::Options source;
  source.brokers = options_.config->kafka.brokers;
  source.client = options_.config->kafka.client;
  source.topic = options_.source_topic;
  source.group_id = options_.group_id;
  source.instance_id = options_.instance_id;
  source.workers = options_.workers;
  source.watch_owners = options_.watch_owners;
  if (!options_.watch_owners) source.check_log_every = std::chrono::milliseconds(0);
  source.fetch_bytes_max = options_.fetch_bytes_max;
  auto consumer = Consumer::Open(source, *topic_consumer_);
  if (!consumer) return Fail(std::move(consumer.error()));
  consumer_ = std::move(*consumer);
  topic_consumer_->SetLog(*consumer_);
  threads_ =
      std::make_unique<ConsumerThreads>(*topic_consumer_, "rekey", options_.workers, std::move(on_failed));
  return {};
}

RekeyingStatus Rekeying::GetStatus() const {
  RekeyingStatus status = handler_->GetStatus();
  if (const std::string refusal = producer_->refusal(); !refusal.empty()) {
    status.caught_up = false;
    status.problem = fmt::format(
        "topic \"{}\" takes no records of \"{}\": {}. They wait to be re-keyed. Remedy: create the topic "
        "again, or correct its message.timestamp.*",
        options_.keyed_topic, options_.source_topic, refusal);
  }
  status.unread.unowned = consumer_->unowned_partitions();
  status.unread.open_transactions = topic_consumer_->OpenTransactions();
  for (const PartitionProblem& problem : topic_consumer_->Problems()) {
    if (problem.IsRefused()) status.unread.refused.push_back({problem.partition, problem.reason, {}});
  }
  return status;
}

void Rekeying::Stop(milliseconds drain) {
  if (!threads_) return;
  handler_->Stopping();
  threads_->Stop(drain);
}

}  // namespace seen
