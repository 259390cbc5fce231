#pragma once
// Sends what can't be decoded to the dead-letter topic, with reason and origin in headers.

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "flow/log_port.h"
#include "flow/reporter.h"
#include "kafka/client_settings.h"

namespace seen {

/// Headers:
/// - reason;
/// - field: "value" if the record's value as a whole is wrong;
/// - message: what is wrong, and its place in the event, at most 300 bytes;
/// - source-topic, source-partition, source-offset;
/// - resent: the run that sent the record again, if the record was a dead letter before;
/// - truncated: the value's original length in bytes, if it was cut to the topic's limit;
/// - truncated-key: the same for the key;
/// - source-timestamp: the record's timestamp, if the topic refuses it for the letter.
///
/// Key, value and timestamp of the record are kept. A null value stays null. Delivery is retried without end.
/// A retry may duplicate a letter. A letter is dropped only if the topic refuses it as too large without key
/// and value, or if the topic is gone, or refuses letters, for half a minute. Then it is counted and logged.
/// Any thread.
class DeadLetterProducer final : public DeadLetterSink {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;         // the dead-letter topic
    std::string source_topic;  // the input
    uint64_t queue_bytes_max = 32 << 20;
    size_t message_bytes_max = 1'000'000;  // key, value and headers; less if the topic takes less
    RekeyReporter* reporter = nullptr;     // must outlive the producer; nullptr: drops aren't counted
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<DeadLetterProducer>> Open(const Options& options);
  /// Drops what isn't delivered: the input is read again from OldestUnacknowledged.
  ~DeadLetterProducer() override;

  bool TrySend(const DeadLetter& letter) override;
  int64_t OldestUnacknowledged(int32_t partition) const override;
  void Forget(int32_t partition) override;

  /// For people: why the topic takes no letters, and the remedy. Empty: it takes them.
  std::string problem() const;

  /// Waits until all letters are acknowledged, at most `timeout`. False: some are outstanding.
  bool Flush(std::chrono::milliseconds timeout);

 private:
  struct Impl;
  explicit DeadLetterProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
