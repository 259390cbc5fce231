#pragma once
// Sends rendered filters to their compacted topics: idempotent, acks=all, retried until they time out. A
// snapshot that timed out is reported as not delivered: an older snapshot mustn't go out once another process
// may publish.

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "flow/log_port.h"
#include "flow/reporter.h"
#include "kafka/client_settings.h"
#include "model/partitioner.h"
#include "owner/output_guard.h"

namespace seen {

/// If a topic refuses a snapshot because that snapshot alone is longer than the topic takes, it comes back as
/// kTooLarge. From then on snapshots of that length or more come back untried, except one a second.
///
/// The input's partitioner maps keys to partitions. Threads: the
/// publisher's, except for Flush (with the publisher stopped) and the figures (any thread).
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
    // That users map to. If a topic gains partitions, its snapshots stay where they are. 0: all of the topic.
    int32_t partitions = 0;
    uint64_t queue_bytes_max = 32 << 20;
    size_t batch_bytes_max = 1'000'000;    // the least max.message.bytes of the topics: more is refused
    std::chrono::milliseconds linger{20};  // SendNow doesn't wait for it
    std::chrono::milliseconds delivery_timeout{22'000};  // LeaseTimes::delivery; more than `linger`
    Reporter* reporter = nullptr;                        // must outlive the producer; nullptr: no counts
    OutputGuard* guard = nullptr;  // must outlive the producer; gets the offsets of snapshots; nullptr: off
  };
  /// Connects in the background. kInvalidArgument: settings.
  static Result<std::unique_ptr<SnapshotProducer>> Open(const Options& options);
  /// Drops what isn't delivered: call Flush before. (Undelivered snapshots are marked in the store.)
  ~SnapshotProducer() override;

  void TrySend(std::span<OutgoingSnapshot> snapshots) override;
  void PollAcknowledgements(const Acknowledge& acknowledge) override;
  /// Sends what is queued without waiting for more, and runs acknowledgements for a millisecond. For use
  /// with few snapshots. Otherwise few requests of many snapshots each cost least, here and at the broker.
  void SendNow(const Acknowledge& acknowledge) override;

  /// Waits until all is acknowledged, at most `timeout`, and runs the acknowledgements. False: some are
  /// outstanding.
  bool Flush(std::chrono::milliseconds timeout, const Acknowledge& acknowledge);

  uint64_t outstanding() const override;
  /// kRefused from a fatal error of the idempotent producer until another producer has taken its place. Calls
  /// of PollAcknowledgements report all that it holds as not delivered. Then they open the next one, at most
  /// one a second. Nothing is queued meanwhile. The publisher's thread.
  Status Health() const;

 private:
  struct Impl;
  explicit SnapshotProducer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace seen
