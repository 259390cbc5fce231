#pragma once
// A bare librdkafka consumer of all partitions of a topic: no group, no commits, partitions spread over
// queues.

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
    bool bounded = true;          // up to the end offsets of now
    std::vector<int64_t> start;   // by partition; empty: from 0
    int64_t queued_messages = 0;  // queued.min.messages; 0: 100,000
    int64_t queued_kbytes = 0;    // queued.max.messages.kbytes a partition; 0: 65,536
    std::map<std::string, std::string> client;  // more of librdkafka's properties
  };

  /// Ends the program where the broker can't be asked.
  explicit TopicReader(const Options& options);
  ~TopicReader();

  /// Takes what there is for `queue`, waiting up to `timeout_ms` for the first. The messages are the caller's
  /// to destroy; errors are taken out (and end the program where they can't heal).
  size_t Take(int queue, int timeout_ms, std::vector<rd_kafka_message_t*>& messages);

  /// The records of the messages up to here are done. Any thread, but one at a time a partition.
  void Applied(int32_t partition, int64_t next_offset, uint64_t events);

  bool done(int queue) const;  // bounded, and all of the queue's partitions were applied to their ends
  uint64_t events() const;
  std::vector<int64_t> next_offsets() const;  // by partition; -1: nothing yet

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
