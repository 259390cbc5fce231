#include "update_tail.h"

#include <algorithm>
#include <cstdio>
#include <mutex>
#include <numeric>

#include "kafka_topics.h"

namespace seen::client::examples {
namespace {

constexpr int kPollMs = 100;
constexpr int kSeekMs = 5000;

std::vector<std::int32_t> UpTo(int partitions) {
  std::vector<std::int32_t> all(static_cast<std::size_t>(partitions));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

std::unique_ptr<UpdateTail> UpdateTail::Start(const Topics& topics, const std::string& filter,
                                              std::size_t additions_max, std::string& problem) {
  // So large a fetch and so short a wait keep the broker's work small.
  auto consumer = Connect(
      {{"bootstrap.servers", topics.brokers}, {"fetch.min.bytes", "1000000"}, {"fetch.wait.max.ms", "10"}},
      problem);
  if (consumer == nullptr) return nullptr;
  const int partitions = PartitionsOf(*consumer, topics.updates, problem);
  if (partitions == 0 || PartitionsOf(*consumer, topics.snapshots, problem) == 0) return nullptr;
  const int watermarks = PartitionsOf(*consumer, topics.watermarks, problem);
  if (watermarks == 0) return nullptr;
  std::unique_ptr<UpdateTail> tail(new UpdateTail(
      std::move(consumer), topics, FilterReader(filter, UpTo(partitions), additions_max, topics.snapshots),
      partitions, watermarks));
  tail->thread_ = std::thread([&tail = *tail] { tail.Run(); });
  return tail;
}

UpdateTail::UpdateTail(std::unique_ptr<RdKafka::KafkaConsumer> consumer, Topics topics, FilterReader reader,
                       int partitions, int watermark_partitions)
    : consumer_(std::move(consumer)),
      topics_(std::move(topics)),
      partitions_(partitions),
      watermark_partitions_(watermark_partitions),
      reader_(std::move(reader)) {}

UpdateTail::~UpdateTail() {
  stopping_ = true;
  if (thread_.joinable()) thread_.join();
  consumer_->close();
}

UpdateTail::Found UpdateTail::Ask(const Question& question) const {
  const std::shared_lock lock(mutex_);
  Found found;
  found.unseen = reader_.Unseen(question.user, question.items, AlsoSeen(question.also_seen));
  std::stable_partition(found.unseen.begin(), found.unseen.end(),
                        [&](const auto& id) { return !reader_.MightBeNear(question.user, id); });
  if (!reader_.IsRefused(question.user)) found.as_of = reader_.AsOf();
  return found;
}

void UpdateTail::Run() {
  if (!ReadWatermarks()) return;
  // The watermarks go on where they were left. The newest of them said where the updates begin.
  Assignment all;
  all.Add(topics_.watermarks, watermark_partitions_, [&](std::int32_t i) { return next_watermark_[i]; });
  all.AddFromBeginning(topics_.snapshots, partitions_);
  all.Add(topics_.updates, partitions_, [&](std::int32_t i) {
    const auto from = updates_from_.find(i);
    return from == updates_from_.end() ? std::int64_t{RdKafka::Topic::OFFSET_BEGINNING} : from->second;
  });
  std::string problem;
  if (!all.Give(*consumer_, problem)) std::fprintf(stderr, "kafka: %s\n", problem.c_str());
  reads_snapshots_ = true;
  while (!stopping_) {
    const std::unique_ptr<RdKafka::Message> message(consumer_->consume(kPollMs));
    Take(*message);
  }
}

/// To the end of the topic. False: the tail stops.
bool UpdateTail::ReadWatermarks() {
  Assignment watermarks;
  watermarks.AddFromBeginning(topics_.watermarks, watermark_partitions_);
  std::string problem;
  if (!watermarks.Give(*consumer_, problem)) std::fprintf(stderr, "kafka: %s\n", problem.c_str());
  while (!stopping_) {
    const std::unique_ptr<RdKafka::Message> message(consumer_->consume(kPollMs));
    Take(*message);
    if (message->err() == RdKafka::ERR__PARTITION_EOF)
      next_watermark_[message->partition()] = message->offset();
    if (next_watermark_.size() == static_cast<std::size_t>(watermark_partitions_)) return true;
  }
  return false;
}

void UpdateTail::Take(const RdKafka::Message& message) {
  const std::string topic = message.err() == RdKafka::ERR__TIMED_OUT ? "" : message.topic_name();
  switch (message.err()) {
    case RdKafka::ERR_NO_ERROR:
      if (topic == topics_.watermarks) return Report(message, TakeBeat(message));
      return Report(message, topic == topics_.updates ? TakeUpdate(message) : TakeSnapshot(message));
    case RdKafka::ERR__PARTITION_EOF:
      if (topic == topics_.snapshots) ends_[message.partition()] = message.offset();
      if (topic == topics_.watermarks) TakeEnds(message.partition());
      return;
    case RdKafka::ERR__TIMED_OUT:
      return;
    default:  // the library tries again; meanwhile the reader grows stale
      std::fprintf(stderr, "kafka: %s\n", message.errstr().c_str());
  }
}

std::optional<Error> UpdateTail::TakeBeat(const RdKafka::Message& message) {
  const std::string key = message.key() == nullptr ? "" : *message.key();
  std::optional<std::string_view> value;
  if (message.payload() != nullptr) value = ValueOf(message);
  {
    const std::unique_lock lock(mutex_);
    if (auto error = reader_.TakeBeat(key, value)) return error;
  }
  const std::int32_t partition = *Watermark::PartitionOf(key);
  beats_in_[partition] = message.partition();
  const auto updates_from = value ? Watermark::Parse(key, *value)->updates_from : std::nullopt;
  if (updates_from) updates_from_[partition] = *updates_from;
  if (!updates_from) updates_from_.erase(partition);
  AskOfSnapshots(partition);
  return std::nullopt;
}

/// The beats in this partition of the watermarks have been read to an end. So the ends of snapshots that were
/// found before it count now, also where more snapshots came since: the reader stands there at least.
void UpdateTail::TakeEnds(std::int32_t watermarks) {
  const std::unique_lock lock(mutex_);
  for (const auto& [partition, beats_in] : beats_in_) {
    if (beats_in != watermarks) continue;
    if (const auto end = ends_.extract(partition)) reader_.SnapshotsEnd(end.key(), end.mapped());
  }
}

/// After a beat: the snapshots may be in another topic, or in one that was created again. No other thread
/// changes the reader, and those that ask need not wait for a seek: so a lock is held to start over only.
void UpdateTail::AskOfSnapshots(std::int32_t partition) {
  const auto moved_to = reader_.MovedTo(partition);
  if (moved_to && *moved_to != moved_to_) {
    moved_to_ = *moved_to;
    std::fprintf(stderr, "%s: the filter has moved to %s, follow that\n", topics_.snapshots.c_str(),
                 moved_to_.c_str());
  }
  if (!reader_.MustRestart(partition)) return;
  if (reads_snapshots_) {  // what was fetched before a seek doesn't come any more
    const std::unique_ptr<RdKafka::TopicPartition> beginning(
        RdKafka::TopicPartition::create(topics_.snapshots, partition, RdKafka::Topic::OFFSET_BEGINNING));
    const RdKafka::ErrorCode code = consumer_->seek(*beginning, kSeekMs);
    if (code != RdKafka::ERR_NO_ERROR) {  // the next beat asks again
      std::fprintf(stderr, "%s %d: %s\n", topics_.snapshots.c_str(), partition,
                   RdKafka::err2str(code).c_str());
      return;
    }
  }
  const std::unique_lock lock(mutex_);
  Restart(partition);
}

/// Needs the lock.
void UpdateTail::Restart(std::int32_t partition) {
  next_snapshot_[partition] = 0;
  ends_.erase(partition);  // an end of the log before
  reader_.SnapshotsRestart(partition);
}

std::optional<Error> UpdateTail::TakeUpdate(const RdKafka::Message& message) {
  const std::unique_lock lock(mutex_);
  return reader_.TakeUpdate(ValueOf(message));
}

std::optional<Error> UpdateTail::TakeSnapshot(const RdKafka::Message& message) {
  const std::unique_lock lock(mutex_);
  if (message.offset() < next_snapshot_[message.partition()]) Restart(message.partition());  // it was cut
  next_snapshot_[message.partition()] = message.offset() + 1;
  if (message.key() == nullptr) return std::nullopt;
  std::optional<std::string_view> bytes;
  if (message.payload() != nullptr) bytes = ValueOf(message);
  return reader_.TakeSnapshot(message.partition(), *message.key(), bytes);
}

/// Holds no lock: a pipe that is full must not stop the answers.
void UpdateTail::Report(const RdKafka::Message& message, const std::optional<Error>& error) const {
  if (!error) return;
  std::fprintf(stderr, "%s %d@%lld: %s\n", message.topic_name().c_str(), message.partition(),
               static_cast<long long>(message.offset()), error->message.c_str());
}

}  // namespace seen::client::examples
