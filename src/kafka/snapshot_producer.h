#pragma once
// Rendered filters into their compacted topics: idempotent, acks=all, retried without end in time.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "flow/log_port.h"
#include "kafka/client_settings.h"
#include "model/partitioner.h"

namespace seen {

/// Keys go to the partition that the input's partitioner gives for the topic's partition count as the brokers
/// tell it. Threads: the publisher's, but for Flush (with the publisher stopped) and the figures (any
/// thread).
class SnapshotProducer final : public SnapshotSink {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::map<FilterId, std::string> topics;
    Partitioner partitioner = Partitioner::kMurmur2;
    uint64_t queue_bytes_max = 32 << 20;
    std::chrono::milliseconds linger{20};  // but for SendNow
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<SnapshotProducer>> Open(const Options& options);
  /// Drops what isn't delivered: call Flush before. (Undelivered snapshots are marked in the store.)
  ~SnapshotProducer() override;

  void TrySend(std::span<OutgoingSnapshot> snapshots) override;
  void PollAcknowledgements(const Acknowledge& acknowledge) override;
  /// Sends what is queued without waiting for more, and runs acknowledgements for a millisecond. Few requests
  /// of many snapshots cost least, here and at the broker: for when there are few anyway.
  void SendNow(const Acknowledge& acknowledge) override;

  /// Waits until all is acknowledged, running the acknowledgements, at most `timeout`. False: some are
  /// outstanding.
  bool Flush(std::chrono::milliseconds timeout, const Acknowledge& acknowledge);

  uint64_t outstanding() const override;
  /// kRefused after a fatal error of the idempotent producer. The next PollAcknowledgements gives back what
  /// it holds as not delivered and begins anew. The publisher's thread.
  Status Health() const;

 private:
  struct Impl;
  explicit SnapshotProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
