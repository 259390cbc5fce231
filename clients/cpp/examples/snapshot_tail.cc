#include "snapshot_tail.h"

#include <librdkafka/rdkafkacpp.h>

#include <cstdio>
#include <utility>
#include <vector>

namespace seen::client::examples {
namespace {

constexpr int kMetadataTimeoutMs = 10'000;
constexpr int kPollMs = 100;

/// All partitions of the topic, from the beginning; how many there are, 0: it can't be told.
int AddPartitions(RdKafka::KafkaConsumer& consumer, const std::string& name,
                  std::vector<RdKafka::TopicPartition*>& partitions, std::string& problem) {
  const std::unique_ptr<RdKafka::Topic> topic(RdKafka::Topic::create(&consumer, name, nullptr, problem));
  if (topic == nullptr) return 0;
  RdKafka::Metadata* answer = nullptr;
  const RdKafka::ErrorCode code = consumer.metadata(false, topic.get(), &answer, kMetadataTimeoutMs);
  const std::unique_ptr<RdKafka::Metadata> metadata(answer);
  if (code != RdKafka::ERR_NO_ERROR || metadata->topics()->empty()) {
    problem = name + ": " + RdKafka::err2str(code);
    return 0;
  }
  const auto* found = metadata->topics()->front();
  if (found->err() != RdKafka::ERR_NO_ERROR || found->partitions()->empty()) {
    problem = name + ": " + RdKafka::err2str(found->err());
    return 0;
  }
  for (const auto* partition : *found->partitions()) {
    partitions.push_back(
        RdKafka::TopicPartition::create(name, partition->id(), RdKafka::Topic::OFFSET_BEGINNING));
  }
  return static_cast<int>(found->partitions()->size());
}

std::string_view ValueOf(const RdKafka::Message& message) {
  return {static_cast<const char*>(message.payload()), message.len()};
}

}  // namespace

std::unique_ptr<SnapshotTail> SnapshotTail::Start(const Topics& topics, SnapshotCache& cache,
                                                  std::string& problem) {
  const std::unique_ptr<RdKafka::Conf> conf(RdKafka::Conf::create(RdKafka::Conf::CONF_GLOBAL));
  // The library asks for a group; nothing is committed.
  const std::pair<const char*, std::string> settings[] = {
      {"bootstrap.servers", topics.brokers}, {"group.id", "seen-snapshot-tail"},
      {"enable.auto.commit", "false"},       {"enable.partition.eof", "true"},
      {"fetch.wait.max.ms", "100"},
  };
  for (const auto& [name, value] : settings) {
    if (conf->set(name, value, problem) != RdKafka::Conf::CONF_OK) return nullptr;
  }
  std::unique_ptr<RdKafka::KafkaConsumer> consumer(RdKafka::KafkaConsumer::create(conf.get(), problem));
  if (consumer == nullptr) return nullptr;
  std::vector<RdKafka::TopicPartition*> partitions;
  const int of_snapshots = AddPartitions(*consumer, topics.snapshots, partitions, problem);
  const bool both = of_snapshots > 0 && AddPartitions(*consumer, topics.watermarks, partitions, problem) > 0;
  const RdKafka::ErrorCode code = both ? consumer->assign(partitions) : RdKafka::ERR_NO_ERROR;
  RdKafka::TopicPartition::destroy(partitions);
  if (code != RdKafka::ERR_NO_ERROR) problem = RdKafka::err2str(code);
  if (!both || code != RdKafka::ERR_NO_ERROR) return nullptr;
  std::unique_ptr<SnapshotTail> tail(new SnapshotTail(std::move(consumer), topics, of_snapshots, cache));
  tail->thread_ = std::thread([&tail = *tail] { tail.Run(); });
  return tail;
}

SnapshotTail::SnapshotTail(std::unique_ptr<RdKafka::KafkaConsumer> consumer, Topics topics, int partitions,
                           SnapshotCache& cache)
    : consumer_(std::move(consumer)), topics_(std::move(topics)), partitions_(partitions), cache_(cache) {}

SnapshotTail::~SnapshotTail() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  consumer_->close();
}

TimeMs SnapshotTail::AsOf(const Snapshot& snapshot) const {
  const std::lock_guard lock(mutex_);
  return watermarks_.AsOf(snapshot);
}

std::optional<TimeMs> SnapshotTail::AsOfNothingSeen() const {
  const std::lock_guard lock(mutex_);
  return watermarks_.AsOfAll(partitions_);
}

void SnapshotTail::Run() {
  while (!stopping_) {
    const std::unique_ptr<RdKafka::Message> message(consumer_->consume(kPollMs));
    Take(*message);
  }
}

void SnapshotTail::Take(RdKafka::Message& message) {
  switch (message.err()) {
    case RdKafka::ERR_NO_ERROR:
      if (message.topic_name() == topics_.snapshots) return TakeSnapshot(message);
      return TakeWatermark(message);
    case RdKafka::ERR__PARTITION_EOF:
      if (message.topic_name() == topics_.snapshots) AtEnd(message.partition());
      return;
    case RdKafka::ERR__TIMED_OUT:
      return;
    default:  // the library tries again; meanwhile watermarks grow stale
      std::fprintf(stderr, "kafka: %s\n", message.errstr().c_str());
  }
}

void SnapshotTail::TakeSnapshot(const RdKafka::Message& message) {
  at_end_[message.partition()] = false;
  if (message.key() == nullptr) return;
  const std::string& user = *message.key();
  if (message.payload() == nullptr) return cache_.Forget(user);
  auto snapshot = Snapshot::ParseCopy(ValueOf(message));
  if (snapshot) return cache_.Put(user, *std::move(snapshot));
  cache_.Refused(user);
  std::fprintf(stderr, "%s %d@%lld: %s\n", topics_.snapshots.c_str(), message.partition(),
               static_cast<long long>(message.offset()), snapshot.error().message.c_str());
}

void SnapshotTail::TakeWatermark(const RdKafka::Message& message) {
  const auto partition = Watermark::PartitionOf(message.key() == nullptr ? "" : *message.key());
  if (partition && message.payload() == nullptr) {
    waiting_.erase(*partition);
    const std::lock_guard lock(mutex_);
    return watermarks_.Forget(*partition);
  }
  const auto watermark =
      partition ? Watermark::Parse(ValueOf(message)) : Parsed<Watermark>(partition.error());
  if (!watermark || watermark->partition != *partition) {
    std::fprintf(
        stderr, "%s\n",
        watermark ? "watermark: of another partition than its key" : watermark.error().message.c_str());
    return;
  }
  waiting_[*partition] = *watermark;
  if (at_end_[*partition]) AtEnd(*partition);
}

void SnapshotTail::AtEnd(std::int32_t partition) {
  at_end_[partition] = true;
  const auto waiting = waiting_.find(partition);
  if (waiting == waiting_.end()) return;
  const std::lock_guard lock(mutex_);
  watermarks_.Set(waiting->second);
  waiting_.erase(waiting);
}

}  // namespace seen::client::examples
