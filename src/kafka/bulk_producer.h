#pragma once
// Many keyed records into a topic, for tools (generate, replay): idempotent, acks=all, in order by key.

#include <chrono>
#include <cstdint>
#include <functional>
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

/// One thread, but for the figures.
class BulkProducer {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    Partitioner partitioner = Partitioner::kMurmur2;
    uint64_t queue_bytes_max = 64 << 20;
    uint64_t message_bytes_max = 0;  // the topic's max.message.bytes, which batches keep too; 0: not known
    std::chrono::milliseconds linger{5};
    uint64_t batch_bytes_max = 0;  // of one partition in one request; 0: the client's own
    /// Runs in Send, Poll and Flush once a record is acknowledged (or given up on), with the ticket given to
    /// Send.
    std::function<void(uint64_t ticket, bool delivered)> on_delivery;
    /// Names and values, of every record of SendFrom and SendMark.
    std::vector<std::pair<std::string, std::string>> headers = {};
  };
  static Result<std::unique_ptr<BulkProducer>> Open(const Options& options);
  ~BulkProducer();  // drops what isn't delivered: call Flush before
  BulkProducer(const BulkProducer&) = delete;
  BulkProducer& operator=(const BulkProducer&) = delete;

  /// Copies and queues the record. While the queue is full it waits, at most `timeout`, then kUnavailable.
  /// `timestamp` nullopt: now. kInvalidArgument: the record is too large.
  Status Send(std::string_view key, std::string_view value, std::optional<TimeMs> timestamp,
              uint64_t ticket = 0, std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Send, with the headers of `from` (a record of this room's readers, or nullptr), and with those of the
  /// options instead of others of their names.
  Status SendFrom(const Record* from, std::string_view key, std::string_view value,
                  std::optional<TimeMs> timestamp, uint64_t ticket,
                  std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// A record without key and value into one partition, with the options' headers and one more.
  Status SendMark(int32_t partition, const std::string& header, const std::string& value, uint64_t ticket,
                  std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Send of all, in order, with the time of the call and no tickets: one look at the clock, one lock.
  Status SendNow(std::span<const KeyedRecord> records,
                 std::chrono::milliseconds timeout = std::chrono::seconds(60));

  /// Runs acknowledgements that have arrived. It waits for the first, at most `wait`.
  void Poll(std::chrono::milliseconds wait = std::chrono::milliseconds(0));
  /// Waits until all is acknowledged, at most `timeout`. kUnavailable: some are outstanding.
  Status Flush(std::chrono::milliseconds timeout);

  uint64_t outstanding() const;  // neither acknowledged nor given up on
  uint64_t delivered_total() const;
  uint64_t failed_total() const;
  std::string last_failure() const;  // for people; empty: none

 private:
  struct Impl;
  explicit BulkProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
