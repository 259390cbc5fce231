#include "snapshot_tail.h"

#include <cstdio>
#include <utility>

#include "kafka_topics.h"

namespace seen::client::examples {
namespace {

constexpr int kPollMs = 100;

}  // namespace

std::unique_ptr<SnapshotTail> SnapshotTail::Start(const Topics& topics, SnapshotCache& cache,
                                                  std::string& problem) {
  auto consumer = Connect({{"bootstrap.servers", topics.brokers}, {"fetch.wait.max.ms", "100"}}, problem);
  if (consumer == nullptr) return nullptr;
  const int of_snapshots = PartitionsOf(*consumer, topics.snapshots, problem);
  const int of_watermarks = of_snapshots == 0 ? 0 : PartitionsOf(*consumer, topics.watermarks, problem);
  Assignment all;
  all.AddFromBeginning(topics.snapshots, of_snapshots);
  all.AddFromBeginning(topics.watermarks, of_watermarks);
  if (of_watermarks == 0 || !all.Give(*consumer, problem)) return nullptr;
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
