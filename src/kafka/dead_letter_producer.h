#pragma once
// What can't be decoded, into the dead-letter topic, with its reason and origin in headers.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "flow/log_port.h"
#include "flow/reporter.h"
#include "kafka/client_settings.h"

namespace seen {

/// Headers: reason, field ("value" where the record's value as a whole is to blame), source-topic,
/// source-partition, source-offset; truncated = the value's original length in bytes, if it was cut to what
/// the topic takes; truncated-key = the key's, likewise. Key, value and the record's timestamp are kept; a
/// null value stays null. Delivery is retried without end; a retry may double a letter. Only a letter that
/// the topic refuses as too large without key and value is dropped, counted and logged. Any thread.
class DeadLetterProducer final : public DeadLetterSink {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;         // the dead-letter topic
    std::string source_topic;  // the input
    uint64_t queue_bytes_max = 32 << 20;
    size_t message_bytes_max = 1'000'000;  // key, value and headers; less if the topic takes less
    RejectReporter* reporter = nullptr;    // outlives the producer; nullptr: nobody counts
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<DeadLetterProducer>> Open(const Options& options);
  /// Drops what isn't delivered: the input is read again from OldestUnacknowledged.
  ~DeadLetterProducer() override;

  bool TrySend(const DeadLetter& letter) override;
  int64_t OldestUnacknowledged(int32_t partition) const override;
  void Forget(int32_t partition) override;

  /// Waits until all is acknowledged, at most `timeout`. False: some are outstanding.
  bool Flush(std::chrono::milliseconds timeout);

  uint64_t outstanding() const;
  uint64_t retries_total() const;  // letters sent again after a failure that librdkafka gave up on

 private:
  struct Impl;
  explicit DeadLetterProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
