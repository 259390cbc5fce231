#pragma once
// Records into the topic that is keyed by user, as they were but for their key: idempotent, acks=all, by
// Java's partitioner.

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "base/result.h"
#include "kafka/client_settings.h"
#include "run/rekey_port.h"

namespace seen {

class KeyedProducer final : public KeyedRecordSink {
 public:
  using Outcome = DeliveryReport;
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::string topic;
    uint64_t queue_bytes_max = 32 << 20;
    size_t record_bytes_max = 1 << 20;  // key, value and headers of the longest worth trying
    size_t batch_bytes_max = 1 << 20;   // the topic's max.message.bytes: more at once would be refused
    std::chrono::milliseconds linger{5};
    /// On the producer's own thread, some at a time.
    std::function<void(std::span<const Outcome>)> on_outcomes;
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<KeyedProducer>> Open(const Options& options);
  /// Drops what isn't delivered, and tells nobody.
  ~KeyedProducer() override;

  Taken TrySend(std::string_view key, const Record& record, uint64_t ticket) override;

 private:
  struct Impl;
  explicit KeyedProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
