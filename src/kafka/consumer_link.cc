#include "kafka/consumer_link.h"

#include <algorithm>

#include "base/log.h"

namespace seen {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kProbeInterval{1000};
constexpr milliseconds kProbe{200};
constexpr int kProbesFailedMax = 2;  // in a row, while connections fail

// librdkafka counts only the bytes of key and value. Its operation and message structures come on top.
constexpr uint64_t kMessageOverheadBytes = 384;

}  // namespace

ConsumerLink::QueueLimits ConsumerLink::queue_limits() const {
  const uint64_t bytes = options.fetch_bytes_max / 2 / static_cast<uint64_t>(options.workers);
  return {std::clamp<uint64_t>(bytes / 1024, 256, 2'000'000),
          std::clamp<uint64_t>(bytes / (kMessageOverheadBytes + 128), 1'000, 1'000'000)};
}

Result<kafka::ConfHandle> ConsumerLink::MakeConf() const {
  const auto limits = queue_limits();
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
  if (rd_kafka_version() >= kBackoffVersion) imposed["fetch.queue.backoff.ms"] = "2";
  if (!options.instance_id.empty()) imposed["group.instance.id"] = options.instance_id;
  return kafka::MakeConf(options.brokers,
                         {{"isolation.level", "read_committed"},
                          {"fetch.min.bytes", "1"},
                          {"fetch.wait.max.ms", "100"},
                          {"fetch.error.backoff.ms", "50"},
                          {"check.crcs", "true"}},
                         options.client, imposed);
}

std::shared_ptr<rd_kafka_t> ConsumerLink::Client() const {
  const MutexLock lock(client_mutex_);
  return client_;
}

void ConsumerLink::SetClient(kafka::ClientHandle client) {
  const MutexLock lock(client_mutex_);
  client_ = std::move(client);
}

std::string ConsumerLink::last_problem() const {
  const MutexLock lock(problem_mutex_);
  return problem_.empty() ? opening_problem_ : problem_;
}

void ConsumerLink::Read() {
  if (reachable_ && !troubled_) return;
  kafka::NoteAllowed({.topic = options.topic});
  Answered();
}

void ConsumerLink::Answered() {
  if (troubled_.exchange(false)) {
    const MutexLock lock(problem_mutex_);
    problem_.clear();
  }
  if (!reachable_.exchange(true)) log::Info("brokers reachable", {{"brokers", options.brokers}});
}

void ConsumerLink::NoteError(rd_kafka_resp_err_t error, const std::string& text) {
  if (error == RD_KAFKA_RESP_ERR__FATAL) return;  // PollControl checks for it
  if (kafka::IsDenied(error)) {
    outages_.fetch_add(1, std::memory_order_relaxed);
    return NoteProblem(rd_kafka_err2name(error), kafka::NoteDenied(error, access()));
  }
  if (error == RD_KAFKA_RESP_ERR__TRANSPORT || error == RD_KAFKA_RESP_ERR__RESOLVE) doubted_ = true;
  outages_.fetch_add(1, std::memory_order_relaxed);
  const std::string shown = kafka::WithoutSecrets(text);
  NoteProblem(rd_kafka_err2name(error), shown + std::string(kafka::SecurityRemedy(shown)));
  // Set after the problem: a thread that finds no broker reachable also finds the reason.
  if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN) reachable_ = false;
}

void ConsumerLink::NoteProblem(const std::string& name, const std::string& text) {
  {
    const MutexLock lock(problem_mutex_);
    problem_ = name + ": " + text;
  }
  troubled_ = true;
  if (kafka::MayLog("consumer " + name)) {
    log::Warning("kafka consumer waits", {{"why", name}, {"text", text}, {"brokers", options.brokers}});
  }
}

void ConsumerLink::NoteOpening(const std::string& reason) {
  {
    const MutexLock lock(problem_mutex_);
    opening_problem_ = reason;
  }
  if (!reason.empty() && kafka::MayLog("consumer opening")) {
    log::Warning("assigned partitions can't be opened yet",
                 {{"topic", options.topic}, {"reason", reason}, {"brokers", options.brokers}});
  }
}

Result<Watermarks> ConsumerLink::QueryWatermarks(int32_t partition, std::chrono::milliseconds timeout) const {
  return kafka::QueryEnds(Client().get(), options.topic, partition, timeout);
}

// librdkafka counts the connections that are down, and reports when none is left. It may miss that if a
// connection to the group's coordinator loses its address meanwhile. So this asks the brokers after a
// connection has failed. One broker that answers is enough.
void ConsumerLink::ProbeBrokers() {
  const auto now = std::chrono::steady_clock::now();
  if ((reachable_ && !doubted_) || now < probe_next_) return;
  probe_next_ = now + kProbeInterval;
  const auto metadata = kafka::TopicMetadata(Client().get(), options.topic, kProbe);
  const bool missing = !metadata && metadata.error().code == Code::kNotFound;
  if (metadata || missing) {
    probes_failed_ = 0;
    doubted_ = false;
    if (!reachable_) Answered();
  } else if (++probes_failed_ >= kProbesFailedMax) {
    doubted_ = false;
    reachable_ = false;
  }
  if (missing) NoteError(RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART, metadata.error().message);
}

}  // namespace seen
