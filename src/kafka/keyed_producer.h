#pragma once
// Sends records to the topic that is keyed by user; only their key changes. Idempotent, acks=all, with Java's
// partitioner.

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "consume/rekey_flow.h"
#include "kafka/client_settings.h"

namespace seen {

class KeyedProducer final : public KeyedRecordSink {
 public:
  using Outcome = DeliveryReport;
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    uint64_t queue_bytes_max = 32 << 20;
    size_t record_bytes_max = 1 << 20;  // key, value and headers of the longest record worth trying
    size_t batch_bytes_max = 1 << 20;   // the topic's max.message.bytes: a larger batch would be refused
    std::chrono::milliseconds linger{5};
    /// Runs on the producer's own thread, with several outcomes at a time.
    std::function<void(std::span<const Outcome>)> on_outcomes;
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<KeyedProducer>> Open(const Options& options);
  /// Drops what isn't delivered, and reports nothing about it.
  ~KeyedProducer() override;

  SendResult TrySend(std::string_view key, const Record& record, uint64_t ticket) override;
  /// Why the topic refused the last record, in librdkafka's words. Empty: it takes them. Any thread.
  std::string refusal() const;

 private:
  struct Impl;
  explicit KeyedProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
