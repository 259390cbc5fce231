#include "topics/rekeying.h"

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
  keyed.on_outcomes = [this](std::span<const DeliveryReport> reports) { taker_->Delivered(reports); };
  auto producer = KeyedProducer::Open(keyed);
  if (!producer) return Fail(std::move(producer.error()));
  producer_ = std::move(*producer);
  return {};
}

Status Rekeying::Run(const Readers& readers, RekeyReporter& reporter, const Clock& clock,
                     OnFailed on_failed) {
  RekeyTaker::Options taker;
  taker.source_topic = options_.source_topic;
  taker.group_id = options_.group_id;
  taker.ready_lag_messages = static_cast<int64_t>(options_.config->http.ready_lag_messages);
  taker.make_keyer = options_.make_keyer;
  taker_ = std::make_unique<RekeyTaker>(std::move(taker), readers, *producer_, *dead_letters_, room_,
                                        reporter, clock);
  TopicRunner::Options runner;
  runner.topic = options_.source_topic;
  runner.remedy = "point " + std::string(options_.topic_key) + " at the right topic, or ";
  runner.rebuild_does = "re-key it from its earliest record";
  runner.rebuild = options_.rebuild;
  runner_ = std::make_unique<TopicRunner>(std::move(runner), *taker_, room_, clock);

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
  auto consumer = Consumer::Open(source, *runner_);
  if (!consumer) return Fail(std::move(consumer.error()));
  consumer_ = std::move(*consumer);
  runner_->SetLog(*consumer_);
  threads_ = std::make_unique<RunnerThreads>(*runner_, "rekey", options_.workers, std::move(on_failed));
  return {};
}

RekeyingStatus Rekeying::GetStatus() const {
  RekeyingStatus status = taker_->GetStatus();
  status.unread.unowned = consumer_->unowned_partitions();
  for (const PartitionProblem& problem : runner_->Problems()) {
    if (problem.IsRefused()) status.unread.refused.push_back({problem.partition, problem.reason, {}});
  }
  return status;
}

void Rekeying::Stop(milliseconds drain) {
  if (!threads_) return;
  taker_->Stopping();
  threads_->Stop(drain);
}

}  // namespace seen
