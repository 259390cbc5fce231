#pragma once
// Reads given partitions of a topic without a group. The room's readers of a part of a topic, and those that
// follow a topic, share this loop. Internal to this room.

#include <chrono>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "flow/log_port.h"
#include "kafka/rdkafka_handles.h"

namespace seen::kafka {

/// One thread.
class ReadLoop {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    ClientSettings imposed;  // on top of what every reader needs
    size_t batch_records = 4096;
    // How long a broker without new records holds a fetch. Questions wait for the fetch before them.
    std::chrono::milliseconds fetch_wait{100};
  };

  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<ReadLoop>> Open(Options options);
  ~ReadLoop();
  ReadLoop(const ReadLoop&) = delete;
  ReadLoop& operator=(const ReadLoop&) = delete;

  /// The ends as they are now, by partition. kNotFound: no such topic; kUnavailable: brokers don't answer;
  /// kDenied.
  Result<std::vector<Watermarks>> QueryEnds(std::chrono::milliseconds timeout) const;
  /// `from`: where reading begins, by partition; below 0: the partition isn't read. Call it once, or again
  /// after Unassign.
  Status Assign(std::span<const int64_t> from);
  /// Stops reading, and drops what waits to be polled.
  Status Unassign();

  /// Looks at each message, errors included. True: the record is delivered. A failure ends the poll.
  using Take = std::function<Result<bool>(const rd_kafka_message_t& message)>;
  using OnRecords = std::function<Status(int32_t partition, std::span<const Record> records)>;
  /// Waits up to `timeout`, then hands over what there is, in order by partition. Views are valid during the
  /// call.
  Status Poll(std::chrono::milliseconds timeout, const Take& take, const OnRecords& on_records);

  rd_kafka_t* client() const { return client_.get(); }
  /// The access that reading needs, for FailWith.
  Access access() const { return {.topic = options_.topic}; }

 private:
  struct Batch {
    std::vector<Record> records;
    std::deque<ReplayNote> notes;  // of records without a value
    bool listed = false;
  };
  ReadLoop(Options options, ClientHandle client);
  Status Sort(const rd_kafka_message_t& message, const Take& take);

  const Options options_;
  std::vector<Batch> batches_;    // by partition
  std::vector<int32_t> touched_;  // of batches_
  std::vector<rd_kafka_message_t*> messages_;
  ClientHandle client_;
  QueueHandle queue_;  // destroyed before the client
};

}  // namespace seen::kafka
