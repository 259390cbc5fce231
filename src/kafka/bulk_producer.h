#pragma once
// Sends many keyed records to a topic, for tools (generate, replay): idempotent, acks=all, in order by key.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"
#include "model/partitioner.h"

namespace seen {

struct KeyedRecord {
  std::string_view key;
  std::string_view value;
};

/// One thread, except for the figures.
class BulkProducer {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    Partitioner partitioner = Partitioner::kMurmur2;
    uint64_t queue_bytes_max = 64 << 20;
    uint64_t message_bytes_max = 0;  // the topic's max.message.bytes; it limits batches, too; 0: not known
    std::chrono::milliseconds linger{5};
    uint64_t batch_bytes_max = 0;  // of one partition in one request; 0: the client's own
    /// Runs in Send, Poll and Flush once a record is acknowledged or given up. `ticket`: as given to Send.
    std::function<void(uint64_t ticket, bool delivered)> on_delivery;
    /// Names and values that each record of SendFrom and SendMark gets.
    std::vector<std::pair<std::string, std::string>> headers = {};
  };
  static Result<std::unique_ptr<BulkProducer>> Open(const Options& options);
  ~BulkProducer();  // drops what isn't delivered: call Flush before
  BulkProducer(const BulkProducer&) = delete;
  BulkProducer& operator=(const BulkProducer&) = delete;

  /// Copies and queues the record. Waits at most `timeout` while the queue is full, then kUnavailable.
  /// `timestamp` nullopt: now. kInvalidArgument: the record is too large.
  Status Send(std::string_view key, std::string_view value, std::optional<TimeMs> timestamp,
              uint64_t ticket = 0, std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// As Send, with the headers of `from` (a record of this room's readers, or nullptr). The options' headers
  /// replace those of the same name.
  Status SendFrom(const Record* from, std::string_view key, std::string_view value,
                  std::optional<TimeMs> timestamp, uint64_t ticket,
                  std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Sends a record without key and value to one partition, with the options' headers and one more.
  Status SendMark(int32_t partition, const std::string& header, const std::string& value, uint64_t ticket,
                  std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// As Send for all records, in order, with the time of the call and without tickets. It reads the clock
  /// once and takes the lock once.
  Status SendNow(std::span<const KeyedRecord> records,
                 std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Runs the acknowledgements that have arrived. Waits for the first one, at most `wait`.
  void Poll(std::chrono::milliseconds wait = std::chrono::milliseconds(0));
  /// Waits until all records are acknowledged, at most `timeout`. kUnavailable: some are outstanding.
  Status Flush(std::chrono::milliseconds timeout);

  uint64_t outstanding() const;  // neither acknowledged nor given up
  uint64_t delivered_total() const;
  uint64_t failed_total() const;
  /// By partition, the greatest offset that a broker acknowledged.
  const std::map<int32_t, int64_t>& last_offsets() const;
  std::string last_failure() const;  // for people; empty: none

 private:
  struct Impl;
  explicit BulkProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
