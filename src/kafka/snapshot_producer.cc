#include "kafka/snapshot_producer.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <vector>

#include "base/log.h"
#include "kafka/producer.h"

namespace seen {
namespace {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

// After a topic has refused a snapshot, one snapshot of that length or more goes out per second, of any user.
// That is enough to notice soon that max.message.bytes was raised, or that another one compresses better. It
// is too few to delay other snapshots.
constexpr milliseconds kTryTooLargeEvery{1000};

using Destination = std::pair<Output, FilterIndex>;

/// One of the topics, and the length from which on it has refused snapshots.
struct SinkTopic {
  std::string name;
  rd_kafka_topic_t* handle = nullptr;  // nullptr: not opened since the producer was
  size_t refused_bytes = std::numeric_limits<size_t>::max();
  SteadyClock::time_point try_at{};
};

std::map<Destination, std::string> TopicNames(const SnapshotProducer::Options& options) {
  std::map<Destination, std::string> names;
  for (const auto& [filter, name] : options.topics) names[{Output::kSnapshots, filter}] = name;
  if (!options.unexposed_topic.empty()) names[{Output::kUnexposed, {}}] = options.unexposed_topic;
  if (!options.watermarks_topic.empty()) names[{Output::kWatermarks, {}}] = options.watermarks_topic;
  if (!options.cluster_topic.empty()) names[{Output::kCluster, {}}] = options.cluster_topic;
  return names;
}

std::vector<std::string> NamesOf(const std::map<Destination, std::string>& topics) {
  std::vector<std::string> names;
  names.reserve(topics.size());
  for (const auto& [to, name] : topics) names.push_back(name);
  return names;
}

// A user's snapshots and tombstones go to the user's partition, also after a topic gained partitions.
std::map<std::string, int32_t> PartitionsOf(const SnapshotProducer::Options& options) {
  std::map<std::string, int32_t> partitions;
  for (const auto& [filter, name] : options.topics) partitions[name] = options.partitions;
  return partitions;
}

bool GoTogether(const OutgoingSnapshot& one, const OutgoingSnapshot& other) {
  return one.output == other.output && one.filter == other.filter && one.retired_topic == other.retired_topic;
}

}  // namespace

struct SnapshotProducer::Impl {
  explicit Impl(const Options& given);

  Options options;
  std::map<Destination, SinkTopic> topics;
  std::map<std::string, SinkTopic> retired;            // opened by their first tombstone
  std::vector<OutputGuard::Delivered> delivered;       // by one poll
  std::vector<std::pair<uint64_t, Delivery>> refused;  // tickets that weren't sent, for acknowledgement
  std::atomic<uint64_t> outstanding{0};
  const Acknowledge* acknowledge = nullptr;  // while polling
  bool some_refused = false;                 // some topic has `refused_bytes`
  uint64_t opened_total = 0;                 // the producer's, when the topics were opened
  std::vector<rd_kafka_message_t> messages;  // of one Produce
  std::vector<size_t> numbers;               // their indexes among its snapshots
  kafka::Producer producer;

  void Produce(std::span<OutgoingSnapshot> snapshots);
  void Refuse(const OutgoingSnapshot& snapshot, rd_kafka_resp_err_t error);
  void OnDelivery(const rd_kafka_message_t& message);
  void NoteTooLarge(const rd_kafka_message_t& message);
  void OpenTopics();
  SinkTopic* FindTopic(const OutgoingSnapshot& snapshot);
  bool IsMissing(std::string_view topic, rd_kafka_resp_err_t error);
  void ReportTooLarge(const std::string& topic, size_t bytes, std::string_view remedy);
  void Finish(uint64_t ticket, Delivery delivery) {
    outstanding.fetch_sub(1);
    if (acknowledge != nullptr) (*acknowledge)(ticket, delivery);
  }
  void NoteOffset(const rd_kafka_message_t& message) {
    // The broker doesn't report the offset of a record that was sent twice.
    if (message.offset < 0) return;
    for (const auto& [to, topic] : topics) {
      if (topic.handle == message.rkt && to.first == Output::kSnapshots)
        delivered.push_back({{to.second, message.partition}, message.offset});
    }
  }
  void TellGuard() {
    if (!delivered.empty()) options.guard->OnDelivered(delivered);
    delivered.clear();
  }
  SinkTopic* TopicOf(const rd_kafka_message_t& message) {
    for (auto& [filter, topic] : topics) {
      if (topic.handle == message.rkt) return &topic;
    }
    return nullptr;
  }
};

SnapshotProducer::Impl::Impl(const Options& given)
    : options(given),
      producer({.name = "snapshot producer",
                .brokers = given.brokers,
                .client = given.client,
                .topics = NamesOf(TopicNames(given)),
                .partitioner = given.partitioner,
                .partitions = PartitionsOf(given),
                .queue_bytes_max = given.queue_bytes_max,
                .linger = given.linger,
                .batch_bytes_max = given.batch_bytes_max,
                // A snapshot is as large as its user's history. The broker decides the limit.
                .record_bytes_max = 8 << 20,
                // A tombstone must not create a retired topic that was deleted.
                .defaults = {{"allow.auto.create.topics", "false"}},
                .imposed = {{"message.timeout.ms", std::to_string(given.delivery_timeout.count())}},
                .on_delivery = [this](const rd_kafka_message_t& message) { OnDelivery(message); }}) {
  for (const auto& [to, name] : TopicNames(given)) topics[to].name = name;
}

SnapshotProducer::SnapshotProducer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
SnapshotProducer::~SnapshotProducer() = default;

// Each producer has topics of its own. What a topic refused from the former one is tried again.
void SnapshotProducer::Impl::OpenTopics() {
  if (opened_total == producer.opened_total()) return;
  opened_total = producer.opened_total();
  retired.clear();
  some_refused = false;
  for (auto& [to, topic] : topics) topic = {topic.name, producer.Topic(topic.name)};
}

void SnapshotProducer::Impl::OnDelivery(const rd_kafka_message_t& message) {
  const auto error = message.err;
  const Delivery delivery = producer.OutcomeOf(message);
  if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE) {
    if (delivery == Delivery::kTooLarge) NoteTooLarge(message);
  } else if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
    if (options.guard != nullptr) NoteOffset(message);
    if (some_refused) {
      auto* const topic = TopicOf(message);
      if (topic != nullptr && message.len + message.key_len >= topic->refused_bytes) {
        topic->refused_bytes = std::numeric_limits<size_t>::max();
      }
    }
  } else if (IsMissing(rd_kafka_topic_name(message.rkt), error)) {
    return Finish(reinterpret_cast<uint64_t>(message._private), Delivery::kAcknowledged);
  } else if (error != RD_KAFKA_RESP_ERR__PURGE_QUEUE && error != RD_KAFKA_RESP_ERR__PURGE_INFLIGHT &&
             kafka::MayLog("snapshot not delivered")) {
    log::Warning("snapshot not delivered, will be sent again", {{"topic", rd_kafka_topic_name(message.rkt)},
                                                                {"bytes", message.len},
                                                                {"error", rd_kafka_err2str(error)}});
  }
  Finish(reinterpret_cast<uint64_t>(message._private), delivery);
}

void SnapshotProducer::Impl::NoteTooLarge(const rd_kafka_message_t& message) {
  const size_t bytes = message.len + message.key_len;
  if (auto* const topic = TopicOf(message)) {
    topic->refused_bytes = std::min(topic->refused_bytes, bytes);
    topic->try_at = SteadyClock::now() + kTryTooLargeEvery;
    some_refused = true;
  }
  ReportTooLarge(rd_kafka_topic_name(message.rkt), bytes, "raise the topic's max.message.bytes");
}

void SnapshotProducer::Impl::ReportTooLarge(const std::string& topic, size_t bytes, std::string_view remedy) {
  if (options.reporter != nullptr) options.reporter->SnapshotTooLarge(topic);
  if (!kafka::MayLog("snapshot too large " + topic)) return;
  log::Error("snapshot larger than the topic accepts: the user's last snapshot stays in the topic",
             {{"topic", topic}, {"bytes", bytes}, {"remedy", remedy}});
}

Result<std::unique_ptr<SnapshotProducer>> SnapshotProducer::Open(const Options& options) {
  auto impl = std::make_unique<Impl>(options);
  if (Status opened = impl->producer.Open(); !opened) return Fail(std::move(opened.error()));
  impl->OpenTopics();
  return std::unique_ptr<SnapshotProducer>(new SnapshotProducer(std::move(impl)));
}

void SnapshotProducer::TrySend(std::span<OutgoingSnapshot> snapshots) {
  for (size_t from = 0, to = 0; from < snapshots.size(); from = to) {
    for (to = from; to < snapshots.size() && GoTogether(snapshots[from], snapshots[to]);) ++to;
    impl_->Produce(snapshots.subspan(from, to - from));
  }
}

// Sends snapshots of one filter in a batch: librdkafka reads its clocks and takes the topic's lock once for
// all.
void SnapshotProducer::Impl::Produce(std::span<OutgoingSnapshot> snapshots) {
  if (!producer.is_open()) {
    for (OutgoingSnapshot& snapshot : snapshots) snapshot.queued = false;
    return;
  }
  SinkTopic* const topic = FindTopic(snapshots.front());
  messages.clear();
  numbers.clear();
  uint64_t queued = 0;
  for (size_t i = 0; i < snapshots.size(); ++i) {
    OutgoingSnapshot& snapshot = snapshots[i];
    const size_t bytes = snapshot.bytes.size() + snapshot.user_id.size();
    if (topic == nullptr || bytes >= topic->refused_bytes) {
      const auto now = topic == nullptr ? SteadyClock::time_point{} : SteadyClock::now();
      if (topic == nullptr || now < topic->try_at) {
        Refuse(snapshot,
               topic == nullptr ? RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC : RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
        snapshot.queued = true;
        ++queued;
        continue;
      }
      topic->try_at = now + kTryTooLargeEvery;
    }
    rd_kafka_message_t& message = messages.emplace_back();
    message = {};
    message.partition = snapshot.partition >= 0 ? snapshot.partition : RD_KAFKA_PARTITION_UA;
    message.payload = snapshot.bytes.empty() ? nullptr : const_cast<char*>(snapshot.bytes.data());
    message.len = snapshot.bytes.size();
    message.key = const_cast<char*>(snapshot.user_id.data());
    message.key_len = snapshot.user_id.size();
    message._private = reinterpret_cast<void*>(snapshot.ticket);
    numbers.push_back(i);
  }
  if (!messages.empty()) producer.ProduceBatch(topic->handle, messages);
  for (size_t i = 0; i < messages.size(); ++i) {
    OutgoingSnapshot& snapshot = snapshots[numbers[i]];
    const auto error = messages[i].err;
    snapshot.queued = error != RD_KAFKA_RESP_ERR__QUEUE_FULL;
    if (!snapshot.queued) continue;
    ++queued;
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR) Refuse(snapshot, error);
  }
  outstanding.fetch_add(queued);
}

SinkTopic* SnapshotProducer::Impl::FindTopic(const OutgoingSnapshot& snapshot) {
  if (snapshot.output != Output::kRetired) {
    const auto found = topics.find({snapshot.output, snapshot.filter});
    return found == topics.end() ? nullptr : &found->second;
  }
  const std::string name(snapshot.retired_topic);
  if (const auto found = retired.find(name); found != retired.end()) return &found->second;
  rd_kafka_topic_t* const handle = producer.Topic(name);
  if (handle == nullptr) return nullptr;
  return &(retired[name] = {name, handle});
}

// A deleted retired topic has no snapshots any more: there is nothing left to erase.
bool SnapshotProducer::Impl::IsMissing(std::string_view topic, rd_kafka_resp_err_t error) {
  if (error != RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC && error != RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
    return false;
  if (!retired.contains(std::string(topic))) return false;
  if (options.reporter != nullptr) options.reporter->RetiredTopicMissing(topic);
  return true;
}

void SnapshotProducer::Impl::Refuse(const OutgoingSnapshot& snapshot, rd_kafka_resp_err_t error) {
  if (IsMissing(snapshot.retired_topic, error)) {
    refused.emplace_back(snapshot.ticket, Delivery::kAcknowledged);  // nothing is left to do
    return;
  }
  const bool too_large = error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE;
  refused.emplace_back(snapshot.ticket, too_large ? Delivery::kTooLarge : Delivery::kFailed);
  const SinkTopic* const found = FindTopic(snapshot);
  const std::string topic = found != nullptr ? found->name : std::string(snapshot.retired_topic);
  if (too_large) {
    ReportTooLarge(topic, snapshot.bytes.size(),
                   "raise the topic's max.message.bytes, and kafka.client's message.max.bytes beyond 8 MiB");
  } else if (kafka::MayLog("snapshot refused")) {
    log::Warning("snapshot refused, will be sent again",
                 {{"topic", topic}, {"bytes", snapshot.bytes.size()}, {"error", rd_kafka_err2str(error)}});
  }
  if (kafka::IsDenied(error)) kafka::NoteDenied(error, kafka::WriteTo(topic));
}

void SnapshotProducer::PollAcknowledgements(const Acknowledge& acknowledge) {
  impl_->acknowledge = &acknowledge;
  const auto refused = std::move(impl_->refused);
  impl_->refused.clear();
  for (const auto& [ticket, delivery] : refused) impl_->Finish(ticket, delivery);
  impl_->producer.Poll(milliseconds(0));
  impl_->TellGuard();
  impl_->producer.KeepOpen();
  impl_->OpenTopics();
  impl_->acknowledge = nullptr;
}

void SnapshotProducer::SendNow(const Acknowledge& acknowledge) { (void)Flush(milliseconds(1), acknowledge); }

bool SnapshotProducer::Flush(milliseconds timeout, const Acknowledge& acknowledge) {
  PollAcknowledgements(acknowledge);
  impl_->acknowledge = &acknowledge;
  impl_->producer.Flush(timeout);
  impl_->TellGuard();
  impl_->acknowledge = nullptr;
  return impl_->outstanding == 0;
}

uint64_t SnapshotProducer::outstanding() const { return impl_->outstanding; }

Status SnapshotProducer::Health() const { return impl_->producer.Health(); }

}  // namespace seen
