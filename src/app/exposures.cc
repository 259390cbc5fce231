#include "app/exposures.h"

#include "base/threads.h"

namespace seen {
namespace {
using std::chrono::milliseconds;

constexpr milliseconds kCheckpointRetry{20};
constexpr milliseconds kCheckpointerIdle{500};  // a frozen tail wakes it
constexpr milliseconds kDrainSlice{20};

ExposuresHandler::Options HandlerOptions(const Exposures::Options& given, const StoreDirectory& directory,
                                         std::function<void()> on_taken, std::function<void()> on_frozen) {
  const Config& config = *given.config;
  ExposuresHandler::Options options;
  options.ready_elsewhere = given.ready_elsewhere;
  options.guard = given.guard;
  options.directory = directory.path();
  options.window_days_max = LongestWindowDays(config);
  options.partitions_of_users = given.partitions_of_users;
  options.rebuild = given.rebuild;
  // A replica doesn't know how far the owner has re-keyed.
  options.awaits_rekeying = config.input.source_topic.has_value() && !config.replica_of;
  if (given.owner != nullptr) options.owns = [owner = given.owner] { return owner->IsThisGroup(); };
  options.on_taken = std::move(on_taken);
  options.on_frozen = std::move(on_frozen);
  return options;
}

TopicConsumer::Options ConsumerOptions(const Config& config, bool rebuild) {
  TopicConsumer::Options options;
  options.topic = config.input.topic;
  options.remedy = "point input.topic at the right topic, or ";
  options.rebuild = rebuild;
  return options;
}
}  // namespace

void Exposures::Work::Wake() {
  {
    const MutexLock lock(mutex_);
    is_wanted_ = true;
  }
  wanted_.NotifyOne();
}

void Exposures::Work::WaitFor(milliseconds time, const std::atomic<bool>& stop) {
  const auto until = std::chrono::steady_clock::now() + time;
  const MutexLock lock(mutex_);
  while (!is_wanted_ && !stop.load() && wanted_.WaitUntil(mutex_, until)) {
  }
  is_wanted_ = false;
}

Exposures::Exposures(const Options& options, const StoreDirectory& directory, const StoreResources& resources,
                     const MemoryBudget& budget, DeadLetterSink& dead_letters, Reporter& reporter,
                     const Clock& clock)
    : clock_(clock),
      stores_(*options.config, options.plan, options.groups, directory, resources, budget,
              options.publish_incomplete, options.state, options.kept),
      handler_(HandlerOptions(
                   options, directory, [this] { to_publish_.Wake(); }, [this] { to_checkpoint_.Wake(); }),
               stores_, dead_letters, reporter, clock),
      topic_consumer_(ConsumerOptions(*options.config, options.rebuild), handler_, room_, clock),
      published_topics_(*options.config, *options.admin) {
  if (options.updates != nullptr) updates_.emplace(handler_.open(), *options.updates, options.owner, clock);
  if (options.snapshots == nullptr) return;
  Publisher::Options publisher;
  publisher.watermarks = options.watermarks;
  publisher.lease = options.lease;
  publisher.guard = options.guard;
  publisher.owner = options.owner;
  publisher.pool = &resources.readers();
  publisher_.emplace(handler_.open(), *options.snapshots, reporter, clock, publisher);
  last_published_.emplace(published_topics_, handler_.open(), reporter, clock);
  if (options.guard != nullptr)
    output_watch_.emplace(published_topics_, *options.guard, handler_.open(), reporter);
}

Result<std::unique_ptr<Exposures>> Exposures::Start(const Options& options, const StoreDirectory& directory,
                                                    const StoreResources& resources,
                                                    const MemoryBudget& budget, DeadLetterSink& dead_letters,
                                                    Reporter& reporter, const Clock& clock,
                                                    OnFailed on_failed) {
  std::unique_ptr<Exposures> made(
      new Exposures(options, directory, resources, budget, dead_letters, reporter, clock));
  auto consumer = Consumer::Open(options.consumer, made->topic_consumer_);
  if (!consumer) return Fail(std::move(consumer.error()));
  made->consumer_ = std::move(*consumer);
  made->topic_consumer_.SetLog(*made->consumer_);
  Exposures* const raw = made.get();
  made->checkpointer_ = std::thread([raw] {
    NameThread("checkpointer");
    YieldToOtherThreads();
    raw->RunCheckpointer();
  });
  if (made->publisher_) {
    made->publisher_thread_ = std::thread([raw] {
      NameThread("publisher");
      raw->RunPublisher();
    });
    made->last_published_->Start();
    if (made->output_watch_) made->output_watch_->Start();
  }
  if (made->updates_) {
    made->updates_thread_.Start("updates", UpdateSender::kEvery, [raw] { return raw->updates_->Step(); });
  }
  made->threads_ = std::make_unique<ConsumerThreads>(made->topic_consumer_, "worker",
                                                     options.consumer.workers, std::move(on_failed));
  return made;
}

Exposures::~Exposures() { Stop(milliseconds(0)); }

void Exposures::StopWorkers() {
  if (threads_) threads_->StopWorkers();
}

void Exposures::Stop(milliseconds drain) {
  StopWorkers();
  if (last_published_) last_published_->Stop();
  if (output_watch_) output_watch_->Stop();
  const Instant until = clock_.Now() + drain;
  while (publisher_ && clock_.Now() < until && publisher_->Outstanding() > 0) {
    std::this_thread::sleep_for(kDrainSlice);
  }
  updates_thread_.Stop();
  stop_.store(true);
  to_checkpoint_.Wake();
  to_publish_.Wake();
  if (checkpointer_.joinable()) checkpointer_.join();
  if (publisher_thread_.joinable()) publisher_thread_.join();
  if (threads_) threads_->Stop(milliseconds(0));
}

void Exposures::RunCheckpointer() {
  while (!stop_.load(std::memory_order_relaxed)) {
    const bool some_wait = handler_.Checkpoint();
    room_.Wake();
    to_checkpoint_.WaitFor(some_wait ? kCheckpointRetry : kCheckpointerIdle, stop_);
  }
}

void Exposures::RunPublisher() {
  while (!stop_.load(std::memory_order_relaxed)) {
    const milliseconds wait = publisher_->Step();
    if (wait > milliseconds(0)) to_publish_.WaitFor(wait, stop_);
  }
}

}  // namespace seen
