#pragma once
// The state topic: its writer and its reader. Records: schemas/state.md.

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "kafka/admin.h"
#include "kafka/client_settings.h"
#include "kafka/partition_producer.h"
#include "kafka/topic_reader.h"
#include "state_stream/state_port.h"

namespace seen {

/// The topic as the daemon creates it.
TopicSpec StateTopicSpec(std::string name, int32_t partitions);

struct StateTopicOptions {
  std::string brokers;
  ClientSettings client;
  std::string topic;
  std::string group;  // whose state it is: the key of each record
  uint64_t queue_bytes_max = 16 << 20;
  size_t record_bytes_max = 1'000'000;  // the topic's max.message.bytes
  // Whether the state of another group may be read, too; empty: only that of `group`.
  std::function<bool(std::string_view other)> reads_group = {};
};

/// The options of a producer of state.
PartitionProducer::Options StateProducerOptions(const StateTopicOptions& topic);

class StateTopicReader final : public StateLog {
 public:
  /// `stop` ends a Read that waits for brokers. It must outlive this object.
  StateTopicReader(StateTopicOptions options, const std::atomic<bool>& stop);
  ~StateTopicReader() override;

  /// The offset after the partition's last record. kUnavailable; kNotFound: no such topic or partition.
  Result<int64_t> End(int32_t partition);
  Status Read(int32_t partition, int64_t from, int64_t to, const Visit& visit) override;
  Foreign foreign() const override { return foreign_; }

 private:
  Status ReadOnce(int32_t partition, int64_t from, int64_t to, const Visit& visit);
  Status Connect();
  void Skip(const Record& record);

  const StateTopicOptions options_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<TopicReader> reader_;  // from the first question until one fails
  Foreign foreign_;
};

}  // namespace seen
