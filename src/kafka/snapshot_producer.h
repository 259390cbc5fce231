#pragma once
// Rendered filters into their compacted topics: idempotent, acks=all, retried until they time out. What timed
// out is given back as not delivered: an older snapshot mustn't go out once another process may publish.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "flow/log_port.h"
#include "flow/output_guard.h"
#include "flow/reporter.h"
#include "kafka/client_settings.h"
#include "model/partitioner.h"

namespace seen {

/// A snapshot that a topic refuses because it alone is longer than the topic takes comes back as kTooLarge,
/// and so do longer ones, untried, but one a second.
///
/// Keys go to the partition that the input's partitioner gives for the topic's partition count as the brokers
/// tell it. Threads: the publisher's, but for Flush (with the publisher stopped) and the figures (any
/// thread).
class SnapshotProducer final : public SnapshotSink {
 public:
  struct Options {
    std::string brokers;
    ClientSettings client;
    std::map<FilterIndex, std::string> topics;  // of the filters that publish
    std::string unexposed_topic;                // empty: none
    std::string watermarks_topic;               // empty: none
    std::string cluster_topic;                  // empty: none
    Partitioner partitioner = Partitioner::kMurmur2;
    uint64_t queue_bytes_max = 32 << 20;
    size_t batch_bytes_max = 1'000'000;    // the least max.message.bytes of the topics: more is refused
    std::chrono::milliseconds linger{20};  // but for SendNow
    std::chrono::milliseconds delivery_timeout{22'000};  // LeaseTimes::delivery; more than `linger`
    Reporter* reporter = nullptr;                        // outlives the producer; nullptr: nobody counts
    OutputGuard* guard = nullptr;  // likewise; hears where snapshots stand; nullptr: nobody does
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
  /// kRefused from a fatal error of the idempotent producer until another one has taken its place. Calls of
  /// PollAcknowledgements give back all that it holds as not delivered, then open the next one, at most one a
  /// second. Nothing is queued meanwhile. The publisher's thread.
  Status Health() const;

 private:
  struct Impl;
  explicit SnapshotProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
