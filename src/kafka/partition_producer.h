#pragma once
// Sends records to the partitions of one topic: state (schemas/state.md) and updates (schemas/update.md).

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"

namespace seen {

/// Idempotent, acks=all. Gives up a record that isn't delivered within a minute.
class PartitionProducer final : public PartitionSink {
 public:
  struct Options {
    std::string name;  // in log lines: "the state topic's producer"
    std::string brokers;
    ClientSettings client;
    std::string topic;
    std::string key;  // of each record; empty: none
    uint64_t queue_bytes_max = 16 << 20;
    size_t record_bytes_max = 1'000'000;  // the topic's max.message.bytes
    std::chrono::milliseconds linger{20};
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<PartitionProducer>> Open(const Options& options);
  /// Drops what isn't delivered.
  ~PartitionProducer() override;

  bool TrySend(int32_t partition, std::string_view record, uint64_t ticket) override;
  void PollDeliveries(const std::function<void(const PartitionDelivery&)>& on_delivery) override;
  /// By partition, why the brokers didn't take its last record. A record that they take clears it.
  const std::map<int32_t, std::string>& refusals() const;

 private:
  struct Impl;
  explicit PartitionProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
