#include "kafka/consumer.h"

#include <algorithm>

#include "base/log.h"
#include "base/result.h"
#include "kafka/connection_trouble.h"
#include "kafka/consumer_impl.h"
#include "kafka/hidden_secrets.h"
#include "kafka/topic_config.h"

namespace seen {
namespace {

constexpr int kBackoffVersion = 0x020200ff;  // fetch.queue.backoff.ms came with librdkafka 2.2

// librdkafka counts only the bytes of key and value. Its operation and message structures come on top.
constexpr uint64_t kMessageOverheadBytes = 384;

ClientSettings ConsumerDefaults() {
  return {{"isolation.level", "read_committed"},
          {"fetch.min.bytes", "1"},
          {"fetch.wait.max.ms", "100"},
          {"fetch.error.backoff.ms", "50"},
          {"check.crcs", "true"}};
}

/// What one worker's queue may hold before librdkafka stops fetching for it. This is half of the budget. The
/// rest is for responses in flight and responses that are being read.
struct QueueLimits {
  uint64_t kbytes;
  uint64_t messages;
};

QueueLimits QueueLimitsOf(const Consumer::Options& options) {
  const uint64_t bytes = options.fetch_bytes_max / 2 / static_cast<uint64_t>(options.workers);
  return {std::clamp<uint64_t>(bytes / 1024, 256, 2'000'000),
          std::clamp<uint64_t>(bytes / (kMessageOverheadBytes + 128), 1'000, 1'000'000)};
}

ClientSettings ConsumerImposed(const Consumer::Options& options) {
  const auto limits = QueueLimitsOf(options);
  const uint64_t response_bytes = std::clamp<uint64_t>(options.fetch_bytes_max / 4, 1 << 20, 50 << 20);
  ClientSettings imposed = {{"group.id", options.group_id},
                            {"partition.assignment.strategy", "range"},
                            {"enable.auto.commit", "false"},
                            {"enable.auto.offset.store", "false"},
                            {"auto.offset.reset", "error"},
                            {"enable.partition.eof", "true"},
                            {"queued.max.messages.kbytes", std::to_string(limits.kbytes)},
                            {"queued.min.messages", std::to_string(limits.messages)},
                            {"fetch.max.bytes", std::to_string(response_bytes)}};
  if (!options.instance_id.empty()) imposed["group.instance.id"] = options.instance_id;
  if (rd_kafka_version() >= kBackoffVersion) imposed["fetch.queue.backoff.ms"] = "2";
  return imposed;
}

void OnQueueFilled(rd_kafka_t*, void* opaque) {
  auto& worker = *static_cast<ConsumerWorker*>(opaque);
  const MutexLock lock(worker.wake_mutex);
  worker.awake = true;
  worker.wake.NotifyOne();
}

}  // namespace

Status Consumer::Impl::Start() {
  Check(options.workers > 0 && options.batch_records_max > 0, "a consumer has workers that read");
  const auto limits = QueueLimitsOf(options);
  drained_records = std::min<size_t>(options.batch_records_max, limits.messages / 4);
  drained_bytes = limits.kbytes * 1024 / 4;
  for (size_t i = 0; i < static_cast<size_t>(options.workers); ++i) {
    workers.push_back(std::make_unique<ConsumerWorker>(i));
    workers.back()->messages.resize(options.batch_records_max);
  }
  auto made = MakeConsumer();
  if (!made) return Fail(std::move(made.error()));
  Take(std::move(*made));
  if (Status subscribed = Subscribe(); !subscribed) return subscribed;
  if (options.check_log_every > std::chrono::milliseconds(0)) {
    log_watch.Start("log-watch", options.check_log_every,
                    [this, watch = LogWatch()]() mutable { return WatchLog(watch); });
  }
  if (options.watch_owners) owners_watch.Start("owners-watch", {}, [this] { return AskForOwners(); });
  return {};
}

Result<kafka::ClientHandle> Consumer::Impl::MakeConsumer() {
  auto conf = kafka::MakeConf(options.brokers, ConsumerDefaults(), options.client, ConsumerImposed(options));
  if (!conf) return Fail(std::move(conf.error()));
  rd_kafka_conf_set_opaque(conf->get(), this);
  rd_kafka_conf_set_rebalance_cb(
      conf->get(), [](rd_kafka_t*, rd_kafka_resp_err_t kind, rd_kafka_topic_partition_list_t* partitions,
                      void* opaque) { static_cast<Impl*>(opaque)->OnRebalance(kind, partitions); });
  rd_kafka_conf_set_error_cb(conf->get(), [](rd_kafka_t*, int error, const char* text, void* opaque) {
    static_cast<Impl*>(opaque)->NoteError(static_cast<rd_kafka_resp_err_t>(error), text);
  });
  return kafka::MakeClient(RD_KAFKA_CONSUMER, std::move(*conf));
}

void Consumer::Impl::Take(kafka::ClientHandle made) {
  commits.reset(rd_kafka_queue_new(made.get()));
  rd_kafka_poll_set_consumer(made.get());
  for (auto& worker : workers) {
    worker->queue.reset(rd_kafka_queue_new(made.get()));
    rd_kafka_queue_cb_event_enable(worker->queue.get(), OnQueueFilled, worker.get());
  }
  const MutexLock lock(client_mutex);
  client = std::move(made);
}

void Consumer::Impl::Leave() {
  rd_kafka_consumer_close(Client().get());  // runs OnRebalance, unless the client was fenced
  RevokeAll();
  rd_kafka_queue_poll_callback(commits.get(), 0);
}

void Consumer::Impl::DropQueues() {
  commits.reset();
  for (auto& worker : workers) {
    for (auto& partition : worker->partitions) partition.queue.reset();
    rd_kafka_queue_cb_event_enable(worker->queue.get(), nullptr, nullptr);
    worker->queue.reset();
  }
}

void Consumer::Impl::Close() {
  const auto closing = Client();
  if (closed || !closing) return;
  closed = true;
  log_watch.Stop();
  owners_watch.Stop();
  Leave();
  const auto locks = LockWorkers();
  DropQueues();
  const MutexLock lock(client_mutex);
  client.reset();
}

Status Consumer::Impl::BeginAnew() {
  auto made = MakeConsumer();
  if (!made) return Fail(std::move(made.error()));
  const auto old = Client();  // destroyed once no thread uses it any more
  Leave();
  {
    const auto locks = LockWorkers();  // no worker may see a queue that is gone
    DropQueues();
    Take(std::move(*made));
  }
  return Subscribe();
}

ConsumedPartition* Consumer::Impl::Find(int32_t partition) {
  if (partition < 0) return nullptr;
  auto& partitions = WorkerFor(partition).partitions;
  const size_t index = static_cast<size_t>(partition) / workers.size();
  return index < partitions.size() ? &partitions[index] : nullptr;
}

void Consumer::Impl::Read() {
  if (reachable && !troubled) return;
  kafka::NoteAllowed({.topic = options.topic});
  Answered();
}

void Consumer::Impl::Answered() {
  if (troubled.exchange(false)) {
    const MutexLock lock(problem_mutex);
    problem.clear();
  }
  if (!reachable.exchange(true)) log::Info("brokers reachable", {{"brokers", options.brokers}});
}

void Consumer::Impl::NoteError(rd_kafka_resp_err_t error, const std::string& text) {
  if (error == RD_KAFKA_RESP_ERR__FATAL) return;  // PollControl checks for it
  if (kafka::IsDenied(error)) {
    outages.fetch_add(1, std::memory_order_relaxed);
    return NoteProblem(rd_kafka_err2name(error), kafka::NoteDenied(error, access()));
  }
  if (error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__RESOLVE) doubted = true;
  outages.fetch_add(1, std::memory_order_relaxed);
  const std::string shown = kafka::WithoutSecrets(text);
  NoteProblem(rd_kafka_err2name(error), shown + std::string(kafka::SecurityRemedy(shown)));
  // Set after the problem: a thread that finds no broker reachable also finds the reason.
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) reachable = false;
}

void Consumer::Impl::NoteProblem(const std::string& name, const std::string& text) {
  {
    const MutexLock lock(problem_mutex);
    problem = name + ": " + text;
  }
  troubled = true;
  if (kafka::MayLog("consumer " + name)) {
    log::Warning("kafka consumer waits", {{"why", name}, {"text", text}, {"brokers", options.brokers}});
  }
}

void Consumer::Impl::NoteOpening(const std::string& reason) {
  {
    const MutexLock lock(problem_mutex);
    opening_problem = reason;
  }
  if (!reason.empty() && kafka::MayLog("consumer opening")) {
    log::Warning("assigned partitions can't be opened yet",
                 {{"topic", options.topic}, {"reason", reason}, {"brokers", options.brokers}});
  }
}

Result<Watermarks> Consumer::Impl::QueryWatermarks(int32_t partition,
                                                   std::chrono::milliseconds timeout) const {
  const auto ends = kafka::QueryEnds(Client().get(), options.topic, {&partition, 1}, timeout,
                                     {.topic = options.topic, .only_describes = true});
  if (!ends) return Fail(ends.error());
  return Watermarks{ends->at(partition).low, ends->at(partition).high};
}

void Consumer::Impl::Commit(const std::map<int32_t, int64_t>& offsets) {
  if (offsets.empty()) return;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(static_cast<int>(offsets.size())));
  for (const auto& [partition, offset] : offsets) {
    rd_kafka_topic_partition_list_add(list.get(), options.topic.c_str(), partition)->offset = offset;
  }
  const int64_t sent_ns = SystemClock().Now().time_since_epoch().count();
  const auto error = rd_kafka_commit_queue(
      Client().get(), list.get(), commits.get(),
      [](rd_kafka_t* consumer, rd_kafka_resp_err_t refusal, rd_kafka_topic_partition_list_t* answered,
         void* opaque) {
        const Instant sent(std::chrono::nanoseconds(reinterpret_cast<intptr_t>(opaque)));
        static_cast<Impl*>(rd_kafka_opaque(consumer))->OnCommitted(refusal, answered, sent);
      },
      reinterpret_cast<void*>(static_cast<intptr_t>(sent_ns)));
  if (error != RD_KAFKA_RESP_ERR_NO_ERROR) commits_failed.fetch_add(1);
}

Consumer::Consumer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Consumer::~Consumer() { Close(); }

Result<std::unique_ptr<Consumer>> Consumer::Open(const Options& options, RebalanceHandler& rebalance) {
  auto impl = std::make_unique<Impl>(options, rebalance);
  if (auto started = impl->Start(); !started) {
    impl->Close();
    return Fail(std::move(started.error()));
  }
  return std::unique_ptr<Consumer>(new Consumer(std::move(impl)));
}

Status Consumer::PollControl(std::chrono::milliseconds timeout) { return impl_->PollControl(timeout); }

size_t Consumer::PollWorker(int worker, std::chrono::milliseconds timeout, WorkerHandler& handler) {
  return impl_->PollWorker(*impl_->workers.at(static_cast<size_t>(worker)), timeout, handler);
}

int Consumer::WorkerOf(int32_t partition) const { return static_cast<int>(impl_->WorkerOf(partition)); }

Status Consumer::Seek(int32_t partition, int64_t offset) {
  Check(partition >= 0 && offset >= 0, "a seek goes to an offset of a partition");
  auto& worker = impl_->WorkerFor(partition);
  const std::lock_guard lock(worker.mutex);
  auto* const state = impl_->Find(partition);
  if (state == nullptr || !state->assigned) {
    return Fail(Code::kNotFound, "seek: partition " + std::to_string(partition) + " isn't assigned");
  }
  if (state->notice_due) --worker.notices_due;
  state->notice_due = false;
  state->out_of_range = false;
  state->seeking = true;
  state->next_offset = offset;
  // The caller may read again because the log is another one. So the old anchors don't count any more.
  if (offset <= state->last.offset) state->last = {};
  if (offset <= state->sample.offset) state->sample = {};
  ++state->epoch;
  impl_->reassign = true;
  return {};
}

void Consumer::StopReading(int32_t partition) {
  auto& worker = impl_->WorkerFor(partition);
  const std::lock_guard lock(worker.mutex);
  auto* const state = impl_->Find(partition);
  if (state == nullptr || !state->assigned) return;
  if (state->notice_due) --worker.notices_due;
  state->notice_due = state->assigned = false;
  ++state->epoch;
  impl_->reassign = true;
}

Watermarks Consumer::CachedWatermarks(int32_t partition) const {
  Watermarks marks;
  if (rd_kafka_get_watermark_offsets(impl_->Client().get(), impl_->options.topic.c_str(), partition,
                                     &marks.low, &marks.high) != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return {};
  }
  return {std::max<int64_t>(marks.low, -1), std::max<int64_t>(marks.high, -1)};
}

Result<Watermarks> Consumer::QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const {
  return impl_->QueryWatermarks(partition, timeout);
}

Result<int64_t> Consumer::OffsetForTime(int32_t partition, TimeMs time,
                                        std::chrono::milliseconds timeout) const {
  const std::string& topic = impl_->options.topic;
  const std::string what = "offset of a time in " + topic + "/" + std::to_string(partition);
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(1));
  rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition)->offset = time.value;
  if (const auto error =
          rd_kafka_offsets_for_times(impl_->Client().get(), list.get(), kafka::ToTimeout(timeout));
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::FailWith(error, what);
  }
  if (list->elems[0].err != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(list->elems[0].err, what);
  if (list->elems[0].offset >= 0) return list->elems[0].offset;
  auto marks = impl_->QueryWatermarks(partition, timeout);
  if (!marks) return Fail(std::move(marks.error()));
  return marks->high;
}

Result<std::map<int32_t, int64_t>> Consumer::LogEnds(std::span<const int32_t> partitions,
                                                     std::chrono::milliseconds timeout) const {
  auto ends = kafka::LogEnds(impl_->Client().get(), impl_->options.topic, partitions, timeout);
  // If packets get lost, no connection fails for a minute. So a question without an answer is a reason to
  // probe.
  if (!ends && ends.error().code == Code::kUnavailable) impl_->doubted = true;
  return ends;
}

Result<std::optional<int64_t>> Consumer::RetentionMs(std::chrono::milliseconds timeout) const {
  auto text =
      kafka::DescribeTopicConfig(impl_->Client().get(), impl_->options.topic, "retention.ms", timeout);
  if (!text) return Fail(std::move(text.error()));
  if (!*text) return std::optional<int64_t>();
  const long long value = std::strtoll((*text)->c_str(), nullptr, 10);
  return value < 0 ? std::optional<int64_t>() : std::optional<int64_t>(value);
}

Result<std::map<int32_t, int64_t>> Consumer::GroupCommitted(std::chrono::milliseconds timeout) const {
  const std::string& topic = impl_->options.topic;
  auto metadata = kafka::TopicMetadata(impl_->Client().get(), topic, timeout);
  if (!metadata) return Fail(std::move(metadata.error()));
  const int32_t count = (*metadata)->topics[0].partition_cnt;
  const kafka::PartitionList list(rd_kafka_topic_partition_list_new(count));
  for (int32_t partition = 0; partition < count; ++partition) {
    rd_kafka_topic_partition_list_add(list.get(), topic.c_str(), partition);
  }
  const std::string what = "committed offsets of " + impl_->options.group_id;
  if (const auto error = rd_kafka_committed(impl_->Client().get(), list.get(), kafka::ToTimeout(timeout));
      error != RD_KAFKA_RESP_ERR_NO_ERROR) {
    return kafka::FailWith(error, what, impl_->access());
  }
  std::map<int32_t, int64_t> offsets;
  for (int i = 0; i < list->cnt; ++i) {
    const auto& entry = list->elems[i];
    if (entry.err != RD_KAFKA_RESP_ERR_NO_ERROR) return kafka::FailWith(entry.err, what, impl_->access());
    offsets[entry.partition] = std::max<int64_t>(entry.offset, -1);
  }
  return offsets;
}

void Consumer::Commit(const std::map<int32_t, int64_t>& offsets) { impl_->Commit(offsets); }

void Consumer::Close() { impl_->Close(); }

bool Consumer::brokers_reachable() const { return impl_->reachable; }
bool Consumer::joined() const { return impl_->joined; }
bool Consumer::opening() const { return impl_->opening; }

std::string Consumer::last_problem() const {
  const MutexLock lock(impl_->problem_mutex);
  return impl_->problem.empty() ? impl_->opening_problem : impl_->problem;
}

std::vector<int32_t> Consumer::unowned_partitions() const {
  const MutexLock lock(impl_->problem_mutex);
  return impl_->unowned;
}

uint64_t Consumer::logs_checked_total() const { return impl_->logs_checked; }
uint64_t Consumer::commits_failed_total() const { return impl_->commits_failed; }
uint64_t Consumer::records_stale_total() const { return impl_->records_stale; }

}  // namespace seen
