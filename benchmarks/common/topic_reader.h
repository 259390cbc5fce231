#pragma once
// A bare librdkafka consumer of all partitions of a topic. It has no group and no commits. The partitions are
// spread over queues.

#include <librdkafka/rdkafka.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

namespace seen::bench {

class TopicReader {
 public:
  struct Options {
    std::string brokers;
    std::string topic;
    int partitions = 4;
    int queues = 1;               // partition p goes to queue p % queues; one thread reads a queue
    bool bounded = true;          // read up to the present end offsets
    std::vector<int64_t> start;   // by partition; empty: from 0
    int64_t queued_messages = 0;  // queued.min.messages; 0: 100,000
    int64_t queued_kbytes = 0;    // queued.max.messages.kbytes a partition; 0: 65,536
    std::map<std::string, std::string> client;  // more properties of librdkafka
  };

  /// Ends the program if the broker gives no answer.
  explicit TopicReader(const Options& options);
  ~TopicReader();

  /// Takes the messages of `queue`. Waits up to `timeout_ms` for the first. The caller destroys the messages.
  /// Errors are taken out. An error that can't heal ends the program.
  size_t Take(int queue, int timeout_ms, std::vector<rd_kafka_message_t*>& messages);

  /// The records below `next_offset` are done. Any thread, but only one at a time for a partition.
  void Applied(int32_t partition, int64_t next_offset, uint64_t events);

  bool done(int queue) const;  // bounded, and the queue's partitions are applied to their ends
  uint64_t events() const;
  std::vector<int64_t> next_offsets() const;  // by partition; -1: none yet

 private:
  struct Partition {
    std::atomic<int64_t> next_offset{-1};
    std::atomic<uint64_t> events{0};
    int64_t end = INT64_MAX;
  };
  void WakeFetchers();

  Options options_;
  rd_kafka_t* client_ = nullptr;
  rd_kafka_topic_t* topic_ = nullptr;
  std::vector<rd_kafka_queue_t*> queues_;
  std::vector<std::unique_ptr<Partition>> partitions_;
  std::atomic<bool> stopping_{false};
  std::thread waker_;
};

}  // namespace seen::bench
